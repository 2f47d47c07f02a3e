"""How heads are fixed, as a parameter."""

from __future__ import annotations

import pytest
from sklearn.base import clone

from plurule import FixedHead, ParameterError, RuleListClassifier
from plurule.learning.fixed_head import as_fixed_head
from plurule.learning.options import check_options


def test_heads_are_fixed_as_published_unless_told_otherwise() -> None:
    options = check_options(RuleListClassifier().get_params(deep=False), 3)
    assert (options.fix_head, options.refine_against, options.fixed_head_counts) == (True, "lifted", "instances")
    own = RuleListClassifier(fix_head=FixedHead(refine_against="plain", counts="pairs"))
    options = check_options(own.get_params(deep=False), 3)
    assert (options.fix_head, options.refine_against, options.fixed_head_counts) == (True, "plain", "pairs")
    assert not check_options(RuleListClassifier(fix_head=False).get_params(deep=False), 3).fix_head


def test_its_parts_can_be_searched() -> None:
    learner = clone(RuleListClassifier()).set_params(fix_head__counts="pairs")
    assert learner.fix_head == FixedHead(counts="pairs")


@pytest.mark.parametrize("value", [None, 1, "pairs"])
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(ParameterError, match="fix_head must be True, False, or a FixedHead"):
        as_fixed_head(value)
