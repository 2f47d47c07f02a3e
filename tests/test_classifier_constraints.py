"""Learning under constraints: the classifiers and the command line keep to what experts ask for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from plurule import RelaxedPruningClassifier, RelaxedPruningClassifierCV, RuleListClassifier
from plurule._learning import native
from plurule._prediction.apply import decide
from plurule.constraints import Constraints
from plurule.data import Dataset
from plurule.data.dataset import Table
from plurule.datasets import load_canteen_dishes, load_world_flags
from plurule.errors import DataError, ModelError
from plurule.lifts import KLN, NoLift
from plurule.model import Attribute, RuleList

WISHES = Constraints(
    forbidden_attributes=["un_since", "stars"],
    forbidden_label_pairs=[("red", "blue"), ("green", "white")],
)


@pytest.fixture(scope="module")
def flags():
    return load_world_flags()


@pytest.mark.parametrize("absence", [False, True])
def test_no_learned_rule_does_what_is_not_allowed(absence: bool):
    dishes = load_canteen_dishes()[:500]
    pairs = [("celery", "alcohol"), ("gluten", "milk")]
    wishes = Constraints(forbidden_attributes=["price", "topping"], forbidden_label_pairs=pairs)
    classifier = RuleListClassifier(predict_absence=absence)
    assert wishes.violations(classifier.fit(dishes).rule_list_)
    bound = classifier.set_params(constraints=wishes).fit(dishes).rule_list_
    assert len(bound) > 3
    assert wishes.violations(bound) == ()


def test_constraints_that_ask_for_nothing_change_nothing(flags):
    names = {"label_names": flags.label_names}
    free = RuleListClassifier().fit(flags.X, flags.Y, **names).rule_list_
    assert RuleListClassifier(constraints=Constraints()).fit(flags.X, flags.Y, **names).rule_list_ == free


def test_initial_rules_may_do_anything(flags):
    given = "blue <- un_since > 1960 and red"
    fitted = RuleListClassifier(constraints=WISHES).fit(flags, initial_rules=given)
    assert fitted.rule_list_[0].locked
    assert fitted.rule_list_[0].to_text() == "blue ← un_since > 1960 ∧ red"
    assert WISHES.violations(fitted.rule_list_) == ()


ONE_WAY = Constraints(
    increasing=["un_since", ("horizontal_stripes", "blue")],
    decreasing=[("horizontal_stripes", "green"), ("stars", "red"), ("cross", "red")],
)


@pytest.mark.parametrize(
    "classifier",
    [
        RuleListClassifier(min_precision=0.3),
        RelaxedPruningClassifier(max_rules=15, conditions="all"),
        RelaxedPruningClassifier(predict_absence=True, fix_head=False),
        RelaxedPruningClassifier(max_rules=15, beam_width=2),
        RelaxedPruningClassifier(max_rules=15, head_search="exhaustive", heuristic="subset_accuracy"),
    ],
    ids=["aimed", "all conditions", "absence", "published", "exhaustive"],
)
def test_rules_test_attributes_that_have_a_direction_on_one_side(flags, classifier: RuleListClassifier):
    free = classifier.fit(flags).rule_list_
    bound = clone(classifier).set_params(constraints=ONE_WAY).fit(flags).rule_list_
    assert ONE_WAY.violations(free)
    assert len(bound) > 1
    assert ONE_WAY.violations(bound) == ()


@pytest.mark.parametrize("scoring", ["hamming_accuracy", "subset_accuracy", "micro_f1", "macro_f1"])
@pytest.mark.parametrize("wishes", [["dose"], [("dose", "ill")]], ids=["all labels", "one label"])
def test_lists_that_aim_at_a_score_keep_to_directions_where_the_data_say_otherwise(scoring: str, wishes: Any):
    random = np.random.default_rng(0)
    dose, age = random.integers(0, 16, 400), random.integers(20, 80, 400)
    ill = (dose > 3) & (dose < 13) ^ (random.random(400) < 0.1)
    table = Table([Attribute("dose"), Attribute("age")], [dose.astype(float), age.astype(float)])
    data = Dataset(table, np.column_stack([ill, age > 50]).astype(np.int8), ("ill", "old"))
    one_way, classifier = Constraints(increasing=wishes), RuleListClassifier(scoring=scoring)
    assert one_way.violations(classifier.fit(data).rule_list_)
    bound = classifier.set_params(constraints=one_way).fit(data).rule_list_
    assert one_way.violations(bound) == ()
    assert "dose" in str(bound)


def test_lists_of_presence_without_label_conditions_and_stops_are_monotone(flags):
    wishes = Constraints(increasing=["horizontal_stripes"])
    rules = RuleListClassifier(constraints=wishes).fit(flags).rule_list_
    assert not any(rule.stop or rule.label_conditions for rule in rules)
    place = flags.X.names.index("horizontal_stripes")
    assert any(c.index == place for rule in rules for c in rule.body)
    columns = list(flags.X.columns)
    before = None
    for stripes in range(15):
        columns[place] = np.full(len(flags), float(stripes))
        labels = decide(rules, Table(flags.X.attributes, columns)).labels()
        assert before is None or (labels >= before).all()
        before = labels


def test_an_initial_rule_against_a_direction_is_refused(flags):
    with pytest.raises(
        ModelError, match=r"initial rule 1 .red ← stars <= 3. tests stars <= 3 to predict red, but stars is"
    ):
        RuleListClassifier(constraints=Constraints(increasing=["stars"])).fit(flags, initial_rules="red <- stars <= 3")


@pytest.fixture(scope="module")
def creatures():
    """Labels of three levels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).round(2)
    cat = X[:, 0] + 0.3 * rng.normal(size=300) > 1
    mammal = cat | (X[:, 1] + 0.3 * rng.normal(size=300) > 1)
    animal = mammal | (X[:, 2] + 0.5 * rng.normal(size=300) > 0.5)
    Y = np.column_stack([cat, X[:, 3] > 0, mammal, animal]).astype(int)
    return X, Y, {"label_names": ["cat", "wet", "mammal", "animal"]}


KINDS = Constraints(hierarchy={"cat": "mammal", "mammal": "animal"})


@pytest.mark.parametrize(
    "classifier",
    [
        RuleListClassifier(),
        RelaxedPruningClassifier(max_rules=12),
        RelaxedPruningClassifier(max_rules=12, predict_absence=True),
    ],
    ids=["selected", "relaxed pruning", "absence"],
)
def test_what_a_label_implies_is_predicted_and_as_likely(creatures, classifier: Any):
    X, Y, names = creatures
    fitted = clone(classifier).set_params(constraints=KINDS).fit(X, Y, **names)
    assert fitted.rule_list_.hierarchy == ((0, 2), (2, 3))
    new = np.random.default_rng(1).normal(size=(500, 4)) * 1.5
    for labels in (*fitted.staged_predict(new), fitted.predict_proba(new)):
        assert (labels[:, 0] <= labels[:, 2]).all()
        assert (labels[:, 2] <= labels[:, 3]).all()
    assert fitted.predict(new)[:, 0].any()
    assert RuleList.parse(fitted.rule_list_, "cat <- x0 > 1").head.stated[0].name == "cat"


def test_rows_against_the_hierarchy_are_named(creatures):
    X, Y, names = creatures
    odd = Y.copy()
    odd[17] = [1, 0, 0, 1]
    with pytest.raises(
        DataError, match=r"row 17 has the label 'cat' without 'mammal', which it implies .1 such row.: add"
    ):
        RuleListClassifier(constraints=KINDS).fit(X, odd, **names)


@pytest.fixture
def learned_lists(monkeypatch: pytest.MonkeyPatch) -> list[RuleList]:
    """Every list that a training run of the native engine gives, those of folds included."""
    seen: list[RuleList] = []
    learn = native.learn

    def watched(*arguments: Any, **keywords: Any) -> RuleList:
        seen.append(learn(*arguments, **keywords))
        return seen[-1]

    monkeypatch.setattr(native, "learn", watched)
    return seen


def test_lists_whose_length_is_chosen_are_constrained_in_every_fold(flags, learned_lists):
    RuleListClassifier(cv=3, constraints=WISHES).fit(flags, initial_rules="red <- sun = yes")
    assert len(learned_lists) >= 4
    for rule_list in learned_lists:
        assert WISHES.violations(rule_list) == ()
        assert rule_list[0].locked


def test_the_lift_is_chosen_under_the_constraints(flags, learned_lists):
    search = RelaxedPruningClassifierCV(RelaxedPruningClassifier(constraints=WISHES), lifts=[NoLift(), KLN(0.1)], cv=2)
    rules = (text for text in ["red <- sun = yes"])  # can be gone through only once
    search.fit(flags, initial_rules=rules)
    assert len(learned_lists) >= 5
    for rule_list in [*learned_lists, search.rule_list_]:
        assert rule_list.labels == flags.label_names
        assert WISHES.violations(rule_list) == ()
        assert rule_list[0].locked


def test_what_is_not_in_the_data_is_named(flags):
    with pytest.raises(ModelError, match="forbidden_attributes: there is no attribute 'cantn'; did you mean 'canton'"):
        RuleListClassifier(constraints=Constraints(["cantn"])).fit(flags.X, flags.Y)
    with pytest.raises(ValueError, match=r"constraints must be None or a plurule.Constraints, got \["):
        RuleListClassifier(constraints=["canton"]).fit(flags.X, flags.Y)


def test_learned_rules_do_not_test_what_only_initial_rules_may() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    Y = np.column_stack([X[:, 0] > 0.5, X[:, 0] > 0.5, X[:, 1] > 0]).astype(int)
    constraints = Constraints(forbidden_attributes=["x0"])
    classifier = RuleListClassifier(constraints=constraints).fit(X, Y, initial_rules="y0 <- x0 > 0.5")
    assert [c.name for c in classifier.rule_list_[0].body] == ["x0"]
    assert {c.name for rule in classifier.rule_list_[1:] for c in rule.body} == {"x1"}
