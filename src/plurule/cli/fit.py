"""`plurule fit`: learn a rule list from data."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from plurule.cli import learner_options, rendering
from plurule.cli.loading import (
    Split,
    check_dictionary,
    keep_to_parts,
    large_data,
    load_initial_rules,
    load_training_data,
)
from plurule.cli.terminal import console, takes_output, visible
from plurule.cli.watching import waiting
from plurule.model.naming import amount

MOST_LABELS_SHOWN = 10
"""Of those that no rule predicts."""


def fit(
    data: str,
    labels: str | None = None,
    output: Path | None = None,
    split: Split | None = None,
    drop: list[str] | None = None,
    decimal: str = ".",
    published: bool = False,
    choose_lift: str | None = None,
    initial_rules: Path | None = None,
    dictionary: Path | None = None,
    memory: str | None = None,
    dask: str | None = None,
    checkpoint: Path | None = None,
    cache: Path | None = None,
    **given: Any,
) -> None:
    """Learn a rule list from data and write it to a model file.

    What is left out is as in the library; the defaults are those without --published.
    """
    from plurule.classifier_cv import RuleListClassifierCV

    constraints = learner_options.make_constraints(given)
    kept = "Nothing was written." if checkpoint is None else f"The same command goes on from {checkpoint}."
    with learner_options.told_in_options(learner_options.learner_parameters()), waiting("learning", kept) as learned:
        classifier: Any = learner_options.make_learner(given, published)
        if choose_lift is not None:
            # The candidates share the cores, not each one's rules.
            jobs, one = classifier.n_jobs, classifier.set_params(n_jobs=None)
            classifier = RuleListClassifierCV(one, protocol="paper", scoring=choose_lift, n_jobs=jobs)
        options: dict[str, Any] = {"drop": drop or (), "decimal": decimal}
        dataset = large_data(data, labels, memory, dask, **options)
        keep_to_parts(dataset, checkpoint, cache, choose_lift is not None or split is not None)
        dataset, part = load_training_data(data, labels, split, **options) if dataset is None else (dataset, "all")
        described = check_dictionary(dictionary, dataset, drop or ())
        initial = () if initial_rules is None else load_initial_rules(initial_rules, dataset)
        start = time.perf_counter()
        # A search for the lift counts candidates, a learner its rules and the share of the work.
        counts = choose_lift is not None
        classifier.set_params(verbose=lambda done, share: learned(done / share if counts else share))
        classifier.fit(dataset, initial_rules=initial, constraints=constraints)
        seconds = time.perf_counter() - start

    out, rule_list = console(stderr=takes_output(output)), described(classifier.rule_list_)
    if choose_lift is not None:
        score = f"{choose_lift} {classifier.best_score_:.3f} by cross-validation"
        out.print(f"Chosen lift: {classifier.best_lift_} ({score})")
    if rule_list.length_choice is not None:
        out.print(rendering.length_text(rule_list.length_choice))
    found = f"{amount(len(rule_list), 'rule')} for {amount(len(dataset.label_names), 'label')}"
    out.print(f"{found} from {amount(len(dataset), 'instance')} in {seconds:.1f} s")
    if split is None and part == "train":
        out.print("Learned from the training part, so that the test part is new to the rules; --split all takes both")
    if initial_rules is not None:
        out.print(f"Initial rules, from {initial_rules}: {len(initial)}", soft_wrap=True)
    _show_left_out(out, classifier.labels_without_rules_)
    out.print(rendering.characteristics(rule_list))
    if output is not None:
        rendering.keep_model(out, rule_list, output)
        return
    out.print()
    out.print(rendering.rule_table(rule_list, range(len(rule_list))))


def _show_left_out(out: Console, reasons: dict[str, str]) -> None:
    """The labels that no rule predicts, and why."""
    for label, reason in list(reasons.items())[:MOST_LABELS_SHOWN]:
        out.print(Text(f"No rule predicts {visible(label)}: {visible(reason)}"), soft_wrap=True)
    if len(reasons) > MOST_LABELS_SHOWN:
        out.print(f"… nor {len(reasons) - MOST_LABELS_SHOWN} other labels")
