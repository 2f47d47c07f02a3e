"""`plurule evaluate`: score a model on labelled data, or a learner by train/test or cross-validation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import typer
from rich.table import Table

from plurule.cli import rendering, terminal
from plurule.cli.commands import refuse
from plurule.cli.loading import Split, load_data, new_part, training_part
from plurule.cli.options import DEFAULT_FOLDS
from plurule.cli.watching import check_jobs, working
from plurule.errors import DataError
from plurule.files import to_csv, write_text
from plurule.model import RuleList
from plurule.model import file as model_file
from plurule.titles import CHARACTERISTICS, MEASURES

if TYPE_CHECKING:
    from plurule.inspection.evidence import Evidence

COLUMNS = {"low": "from", "high": "to (95 %)", "constant": "best constant", "chance": "chance"}
"""What scores are compared with (see `plurule.prediction.assessment`), and what the columns of the table are called."""

TUNE = "tune"
"""In place of a lift: one chosen anew on each training part."""


TRAINING = {"labels": "the labels are those of the model"}
TRAINING |= dict.fromkeys(("drop", "folds", "learner", "objective", "lift", "seed", "jobs"), "it is for training")
"""Options of training, which have no meaning where a model is given, and why."""


def evaluate(
    context: typer.Context,
    sources: list[str],
    labels: str | None = None,
    split: Split | None = None,
    drop: list[str] | None = None,
    decimal: str = ".",
    folds: str | None = None,
    learner: Literal["published", "default"] = "published",
    objective: str = "micro-f+",
    lift: str = "kln at 3: 1.08",
    seed: int = 0,
    jobs: int | None = None,
    as_json: bool = False,
    as_csv: bool = False,
    output: Path | None = None,
) -> None:
    """Score a model on data that has its labels; or, without a model, train and score.

    plurule evaluate model.json flags --split test

    plurule evaluate flags --learner default

    plurule evaluate flags --objective ha+- --lift tune

    plurule evaluate house.csv --labels last:3 --folds 10
    """
    if as_json and as_csv:
        raise ValueError("--json and --csv ask for two forms at once; choose one")
    if len(sources) > 2:
        raise ValueError(f"{len(sources)} files are given, expected a model and data, or data alone")
    if len(sources) == 2:
        refuse(context, "with a model", TRAINING)
        found = score_model(Path(sources[0]), sources[1], split or new_part(sources[1]), decimal)
    else:
        chosen = None if learner == "default" else (objective, lift)
        if chosen is None:
            reasons = dict.fromkeys(("objective", "lift"), "it is for the published one")
            refuse(context, "with --learner default", reasons)
        reading = {"labels": labels, "drop": drop or (), "decimal": decimal}
        found = train_and_score(sources[0], split, reading, folds, chosen, seed, jobs)
    if output is not None:
        write_text(output, csv_text(found) if output.suffix.lower() == ".csv" else json_text(found))
    if as_json:
        print(json_text(found), end="")
    elif as_csv:
        print(csv_text(found), end="")
    else:
        out = terminal.console()
        out.print(found.words, markup=False)
        out.print(score_table(found))


class Found(NamedTuple):
    """What was scored: measures of one model, or of one per fold."""

    words: str
    """What was done."""
    rows: list[dict[str, float]]
    beside: dict[str, dict[str, float]]
    """By kind: the same measures of something to compare with, or the ends of intervals."""
    counts: dict[str, int]

    @property
    def summary(self) -> dict[str, dict[str, float]]:
        """The scores of a model, or mean and deviation of those of several."""
        several = len(self.rows) > 1
        return dict(zip(("mean", "deviation"), spread(self.rows), strict=True)) if several else {"score": self.rows[0]}


def score_model(model: Path, data: str, split: Split, decimal: str = ".") -> Found:
    """All measures of a model on some data."""
    from plurule.classifier import RuleListClassifier
    from plurule.data.encoding import encode
    from plurule.data.fingerprint import in_words, trained_on
    from plurule.prediction.assessment import assess

    rule_list = model_file.load(model)
    dataset = load_data(data, list(rule_list.labels), split, decimal=decimal)
    table = encode(dataset.X, rule_list.attributes, rule_list.tested_attributes())
    predicted = RuleListClassifier.from_rule_list(rule_list).predict(table)
    assessed = assess(dataset.Y, predicted, sample_weight=dataset.weights)
    kinds = {kind: {name: getattr(one, kind) for name, one in assessed.items()} for kind in ("score", *COLUMNS)}
    words = f"{len(dataset)} instances, {len(rule_list.labels)} labels, {len(rule_list)} rules"
    counts, known = {"instances": len(dataset)}, trained_on(rule_list, table)
    if known is not None:
        counts["trained_on"] = int(known.sum())
        words += "; " + in_words(counts["trained_on"], len(dataset))
    words += _precisions(rule_list, rule_list.evidence(dataset).rules)
    return Found(words, [kinds.pop("score")], kinds, counts)


def _precisions(rule_list: RuleList, found: Sequence[Evidence]) -> str:
    """How often all rules together are right in what they decide, on the data and in training; one line."""
    here, learned = sum(one.decided for one in found), sum(rule.tp + rule.fp for rule in rule_list)
    if not here or not learned:
        return ""
    right, in_training = sum(one.right for one in found) / here, sum(rule.tp for rule in rule_list) / learned
    return (
        f"\nWhat rules decide is right in {right:.1%}, in training in {in_training:.1%} (plurule show --data: by rule)"
    )


def train_and_score(
    source: str,
    split: Split | None,
    reading: dict[str, Any],
    folds: str | None,
    published: tuple[str, str] | None,
    seed: int,
    jobs: int | None,
) -> Found:
    """All measures of a learner, per fold or on the test part; `reading` are options of how the data are read.

    The learner is the published one with the objective and the lift that are given, or else the default one.
    """
    from plurule.metrics import METRICS
    from plurule.prediction.constant import best_constant
    from plurule.prediction.scoring import Scoring
    from plurule.selection.folds import Folds, problem_of
    from plurule.selection.splitters import find_splitter
    from plurule.selection.trials import Evaluation

    learner, learner_words = make_learner(published, seed, check_jobs(jobs))
    if source.lower().endswith(".json"):
        raise DataError(f"{source}: is a model; give the data to score it on, too")
    if folds is None and split is None and training_part(source) == "train":
        data, test = load_data(source, split="train", **reading), load_data(source, split="test", **reading)
        parts = Folds(problem_of(data), [], problem_of(test)).everything()
        words = f"{len(data)} training and {len(test)} test instances"
    else:
        data = load_data(source, split=split or "all", **reading)
        parts = Folds(problem_of(data), []).split(find_splitter(folds or DEFAULT_FOLDS, seed))
        words = f"{len(data)} instances, {parts.n_parts} folds"
    evaluation = Evaluation(parts, Scoring("hamming_accuracy"), tuple(METRICS), by_length=False)
    rows, constants = [], []
    with working("folds", "Nothing was written.") as (progress, _):
        progress(0, parts.n_parts)
        for number, part in enumerate(parts.parts):
            found = evaluation.score(learner.fit(data[part.train]).rule_list_, number)
            rows.append(found["scores"] | found["size"])
            constants.append({name: best_constant(parts.held_out(number)[0].Y, name).score for name in METRICS})
            progress(len(rows), parts.n_parts)
    words = f"{words}, {len(data.label_names)} labels, {learner_words}"
    return Found(words, rows, {"constant": spread(constants)[0]}, {})


def make_learner(published: tuple[str, str] | None, seed: int, jobs: int) -> tuple[Any, str]:
    """The learner that is asked for, or a search for its lift; and in words."""
    from plurule.classifier import RuleListClassifier
    from plurule.cli import searches
    from plurule.lifts import find_lift, parse_lifts
    from plurule.selection.objectives import find_objective

    if published is None:
        return RuleListClassifier(n_jobs=jobs), "the default learner"
    objective, lift = find_objective(published[0]), published[1].strip().lower()
    if lift == TUNE:
        search = searches.LiftSearch(objective.name, None, "paper", "5", seed).search()
        return search.set_params(n_jobs=jobs), f"{objective.title}, lift {TUNE}"
    names = parse_lifts(published[1])
    if len(names) > 1:
        raise ValueError(
            f"--lift {published[1]}: {len(names)} lifts; give one lift, or tune to choose among the paper's"
        )
    learner = searches.published(objective, lift=find_lift(names[0]), n_jobs=jobs)
    return learner, f"{objective.title}, lift {names[0]}"


def spread(rows: Sequence[dict[str, float]]) -> tuple[dict[str, float], dict[str, float]]:
    """Mean and standard deviation of every column."""
    import numpy as np

    columns = {name: np.array([row[name] for row in rows], dtype=float) for name in rows[0]}
    return {n: float(c.mean()) for n, c in columns.items()}, {n: float(c.std()) for n, c in columns.items()}


def score_table(found: Found) -> Table:
    """The measures side by side with what they are to be compared with; mean and deviation where there are several."""
    titles = {key: title for key, title in (MEASURES | CHARACTERISTICS).items() if key in found.rows[0]}
    return rendering.column_table(titles, found.summary | {COLUMNS[kind]: row for kind, row in found.beside.items()})


def json_text(found: Found) -> str:
    """The scores as JSON: plain for one row, or mean, deviation and every fold; and what to compare them with."""
    scores: dict[str, Any] = found.summary.get("score") or {**found.summary, "folds": found.rows}
    return json.dumps({**scores, **found.beside, **found.counts}, indent=2) + "\n"


def csv_text(found: Found) -> str:
    """The scores as CSV: one row per fold, then mean and deviation; and what to compare them with."""
    several = len(found.rows) > 1
    folds = {str(number): row for number, row in enumerate(found.rows, start=1)} if several else {}
    named = folds | found.summary | found.beside
    return to_csv([{"fold" if several else "row": name, **row} for name, row in named.items()])
