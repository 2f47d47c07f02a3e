"""The results of an experiment as data frames (pandas): tables, figures, statements and the page are made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from plurule.metrics import METRICS
from research.paper.certainty import Certainty, draw, published_cells
from research.paper.experiment import MULAN_MACRO_F1, Results
from research.paper.lifts import NONE, LiftName
from research.paper.objectives import PAPER_OBJECTIVES, find_objective
from research.paper.protocol import COUNTS, Task
from research.paper.published import MEASURES, WINS
from research.paper.selected_rules import Selection, selections
from research.paper.sets import NUMERIC, PAPER_SETS
from research.paper.statistics import DIGITS, Comparison, Tally, compare, tally

CASE = ["set", "objective"]
"""What tells the cases apart in which normal and relaxed pruning are compared."""
_MODEL = [*CASE, "lift"]


class Pairs(NamedTuple):
    """The final models without and with a lift, as two frames with a row per data set and objective."""

    normal: pd.DataFrame
    relaxed: pd.DataFrame

    def of(self, level: Literal["set", "objective"], name: str) -> Pairs:
        """Those of one data set or of one objective."""
        return Pairs(*(frame[frame.index.get_level_values(level) == name] for frame in self))

    def fewer(self, name: str) -> pd.Series:
        """Where relaxed pruning has less of something."""
        return self.relaxed[name] < self.normal[name]

    def more(self, name: str) -> pd.Series:
        """Where relaxed pruning has more of something."""
        return self.relaxed[name] > self.normal[name]

    def ratio(self, name: str) -> pd.Series:
        """What is counted with a lift over what is counted without."""
        return self.relaxed[name] / self.normal[name].clip(lower=1)


class Analysis:
    """The results, in the forms that are asked for; each frame is made when it is first looked at.

    With `numeric`, learners are compared on the numeric versions of discretised data sets, where there are some;
    `beside_wins` are wins, losses and ties of an earlier run on numeric data.
    """

    def __init__(
        self, results: Results, numeric: bool = False, beside_wins: dict[str, dict[str, Tally]] | None = None
    ) -> None:
        self.results = results
        self.numeric = numeric
        self.beside_wins = beside_wins
        self.objectives = list(results.plan.objectives)

    # Data sets ------------------------------------------------------------------------------------------------------

    def compared_sets(self, numeric: bool | None = None) -> list[str]:
        """Return the data sets that learners are compared on: one version of each, that of the analysis by default."""
        if numeric is None:
            numeric = self.numeric
        there = self.results.sets.keys()
        twins = {name: other for name, other in NUMERIC.items() if {name, other} <= there}
        discretised = [name for name in there if name not in twins.values()]
        return [twins.get(name, name) for name in discretised] if numeric else discretised

    @property
    def has_numeric(self) -> bool:
        """Whether there are both versions of a data set."""
        return self.compared_sets(numeric=False) != self.compared_sets(numeric=True)

    @property
    def is_the_papers(self) -> bool:
        """Whether all data sets of the paper are there, and none besides (but numeric versions)."""
        return sorted(self.compared_sets(numeric=False)) == sorted(PAPER_SETS)

    @cached_property
    def data_sets(self) -> pd.DataFrame:
        return pd.DataFrame([{"set": name} | found.facts for name, found in self.results.sets.items()])

    @cached_property
    def effort(self) -> pd.DataFrame:
        """Per data set: models trained, CPU seconds, and seconds by the clock.

        The clock between two finished tasks is put down to the data set of the later one, so that the parts add up.
        """
        moments: list[dict[str, Any]] = [{"at": session["at"], "set": ""} for session in self.results.sessions]
        for key, at in self.results.finished_at.items():
            seconds = sum(self.results.records[key]["seconds"].values())
            moments.append({"at": at, "set": key.split("/")[1], "cpu_s": seconds})
        spent = pd.DataFrame(moments, columns=["at", "set", "cpu_s"]).sort_values("at", kind="stable")
        spent["clock_s"] = spent["at"].diff().fillna(0.0)
        columns = {"models": ("cpu_s", "count"), "cpu_s": ("cpu_s", "sum"), "clock_s": ("clock_s", "sum")}
        sums = spent.groupby("set").agg(**columns).reindex(list(self.results.sets), fill_value=0)
        return sums.round(1).rename_axis("set").reset_index()

    # Models ---------------------------------------------------------------------------------------------------------

    def recorded(self, kind: str) -> pd.DataFrame:
        """Every task of a kind that was run: what it was, and sizes, scores and seconds of what was learned."""
        rows: list[dict[str, Any]] = []
        for key, found in self.results.records.items():
            of_kind, *names = key.split("/")
            if of_kind == kind:
                seconds = {f"{name.replace(' ', '_')}_s": value for name, value in found["seconds"].items()}
                task = dict(zip((*_MODEL, "part", "variant"), names, strict=False)) | {"part": int(names[3])}
                rows.append(task | found.get("size", {}) | found.get("scores", {}) | seconds)
        return pd.DataFrame(rows, columns=None if rows else [*_MODEL, "part", "variant"])

    @cached_property
    def candidates(self) -> pd.DataFrame:
        """Every candidate of every choice, best first and no lift last: means over the folds."""
        rows = [
            {"set": name, "objective": objective, "rank": None if lift == NONE else rank, "lift": lift}
            for name, found in self.results.sets.items()
            for objective in self.objectives
            for rank, lift in enumerate([*found.ranking[objective], NONE], start=1)
        ]
        folds = self.recorded("fold").sort_values("part", kind="stable").groupby(_MODEL)
        table = pd.DataFrame(rows).astype({"rank": "Int64"}).join(folds[list(METRICS)].mean(), on=_MODEL)
        table = table.join(folds[list(MEASURES)].std(ddof=0).add_suffix("_deviation"), on=_MODEL)
        return table.join(folds[["rules", "conditions"]].mean(), on=_MODEL)

    @cached_property
    def chosen(self) -> pd.DataFrame:
        """Per data set and objective: the lift that was chosen, and how it did in cross-validation."""
        rows = []
        for (name, objective), own in self.candidates.groupby(CASE, sort=False):
            measure = find_objective(objective).measure
            best, *others, none = own.to_dict("records")
            row = {"set": name, "objective": objective, "lift": best["lift"], "measure": measure}
            row |= {"score": best[measure], "deviation": best[f"{measure}_deviation"]}
            row |= {"score_without_lift": none[measure]}
            second = others[0] if others else {"lift": "", measure: np.nan}
            row |= {"second": second["lift"], "second_score": second[measure]}
            rows.append(row | {"rules": best["rules"], "rules_without_lift": none["rules"]})
        return pd.DataFrame(rows)

    @cached_property
    def models(self) -> pd.DataFrame:
        """The final models without and with the chosen lift: what they consist of, and scores on the test part."""
        order = pd.DataFrame(
            {"set": row.set, "objective": row.objective, "pruning": pruning, "lift": lift}
            for row in self.chosen.itertuples()
            for pruning, lift in (("normal", NONE), ("relaxed", row.lift))
        )
        return with_shares(
            order.merge(self.recorded("final").drop(columns=["part", "variant"], errors="ignore"), on=_MODEL)
        )

    def pairs(self, sets: Sequence[str] | None = None) -> Pairs:
        """The final models, by data set and objective."""
        own = self.models[self.models["set"].isin(self.compared_sets() if sets is None else sets)]
        return Pairs(*(own[own["pruning"] == pruning].set_index(CASE) for pruning in ("normal", "relaxed")))

    @cached_property
    def variants(self) -> pd.DataFrame:
        """Models of learners that differ in one part, beside those of the paper's learner (`_as_published`)."""
        tried = self.recorded("variant").sort_values("variant", ascending=False, kind="stable")
        relaxed = self.models[self.models["pruning"] == "relaxed"]
        return relaxed.merge(tried, on=_MODEL, suffixes=("_as_published", ""))

    @cached_property
    def reference(self) -> pd.DataFrame:
        """Models beside those of the paper's own program (`_reference`)."""
        theirs = [
            {"set": task.dataset, "objective": task.objective, "lift": task.lift} | numbers
            for task, numbers in self.results.reference.rows
        ]
        if not theirs:
            return pd.DataFrame()
        table = pd.DataFrame(theirs).astype(dict.fromkeys(COUNTS, int))
        both = table.merge(self.recorded("reference"), on=_MODEL, suffixes=("_reference", ""))
        return both[[*_MODEL, *(f"{name}{of}" for name in (*COUNTS, *MEASURES) for of in ("", "_reference"))]]

    @cached_property
    def sensitivity(self) -> pd.DataFrame:
        """How models of one data set change with the lift: sizes, and scores on what they were trained on."""
        tried = self.recorded("sensitivity")
        tried = tried[tried["set"] == self.results.sensitivity_set]
        if tried.empty:
            return tried
        lifts = [LiftName.parse(name) for name in tried["lift"]]
        tried = tried.assign(function=[one.function for one in lifts], lift=[one.height for one in lifts])
        places = {objective: place for place, objective in enumerate(self.objectives)}
        tried = tried.assign(place=tried["objective"].map(places)).sort_values(["place", "function", "lift"])
        training = ["hamming_accuracy", "micro_f1", "subset_accuracy"]
        shown = ["rules", *_SHARES, "longest_head", *(f"training_{measure}" for measure in training)]
        renamed = with_shares(tried).rename(columns={measure: f"training_{measure}" for measure in training})
        return renamed[[*CASE, "function", "lift", *shown]]

    @cached_property
    def selections(self) -> list[Selection]:
        """Rules of both models about selected labels."""
        return selections(self.results)

    # Training times -------------------------------------------------------------------------------------------------

    @cached_property
    def times(self) -> pd.DataFrame:
        """CPU seconds of training without lift, with it, and without it again, one row per repetition."""
        measured = self.recorded("timing").sort_values("part", kind="stable")
        if measured.empty:
            return measured
        table = self.chosen[_MODEL].merge(measured, on=_MODEL)
        table["ratio"] = table["relaxed_s"] / ((table["normal_s"] + table["normal_again_s"]) / 2)
        table.insert(3, "repetition", table.pop("part") + 1)
        return table

    @cached_property
    def speed(self) -> pd.DataFrame:
        """Training times of each data set and objective: medians, and the ratios of relaxed to normal."""
        if self.times.empty:
            return self.times
        table = pd.concat([self.times, self.times.assign(normal_s=self.times["normal_again_s"])])
        columns = {"normal": ("normal_s", "median"), "relaxed": ("relaxed_s", "median"), "ratio": ("ratio", "median")}
        columns |= {"low": ("ratio", "min"), "high": ("ratio", "max")}
        return table.groupby(_MODEL, sort=False).agg(**columns).reset_index()

    # Predictive performance -----------------------------------------------------------------------------------------

    def wins(self, sets: Sequence[str] | None = None) -> dict[str, dict[str, Tally]]:
        """Wins, losses and ties of relaxed against normal pruning, per objective and measure."""
        both, found = self.pairs(sets), {}
        for objective in self.objectives:
            normal, relaxed = both.of("objective", objective)
            found[objective] = {measure: tally(relaxed[measure], normal[measure]) for measure in MEASURES}
        return found

    def ranks(self, sets: Sequence[str] | None = None) -> dict[str, Comparison]:
        """Per measure, the average ranks of all approaches: every objective with normal and with relaxed pruning."""
        both = self.pairs(sets)
        scores = {
            approach_name(objective, relaxed): both.of("objective", objective)[relaxed].droplevel("objective")
            for objective in self.objectives
            for relaxed in (False, True)
        }
        return {m: compare(list(scores), np.transpose([one[m] for one in scores.values()])) for m in MEASURES}

    def mulan_wins(self) -> dict[str, dict[str, Tally]]:
        """Wins, losses and ties where macro F1 is that of Mulan, in the choice of the lift and on the test part."""
        trained = self._trained().set_index(_MODEL)
        found: dict[str, dict[str, Tally]] = {}
        for objective in self.objectives:
            cases = [(name, objective) for name in self.compared_sets()]
            lifts = [
                self.results.sets[name].mulan.get(objective, self.results.sets[name].chosen(objective))
                for name, _ in cases
            ]
            relaxed = trained.loc[[(*case, lift) for case, lift in zip(cases, lifts, strict=True)]]
            normal = trained.loc[[(*case, NONE) for case in cases]]
            columns = {measure: MULAN_MACRO_F1 if measure == "macro_f1" else measure for measure in MEASURES}
            found[objective] = {m: tally(relaxed[column], normal[column]) for m, column in columns.items()}
        return found

    @cached_property
    def certainty(self) -> Certainty | None:
        """What the table of wins would be with other lifts that are nearly as good; None if none were trained."""
        if self.recorded("near").empty:
            return None
        trained = self._trained().set_index(_MODEL).sort_index()[list(MEASURES)]
        alone = self._draw(lambda case, lift: [trained.loc[(*case, lift)].to_numpy(dtype=float)])
        if self.reference.empty:
            return alone
        columns = [f"{measure}_reference" for measure in MEASURES]
        program = self.reference.drop_duplicates(_MODEL).set_index(_MODEL)[columns]

        def both(case: tuple[str, str], lift: str) -> list[Any]:
            known = [program.loc[(*case, lift)].to_numpy(dtype=float)] if (*case, lift) in program.index else []
            return [trained.loc[(*case, lift)].to_numpy(dtype=float), *known]

        return replace(alone, with_program=self._draw(both))

    def _draw(self, scores: Callable[[tuple[str, str], str], list[Any]]) -> Certainty:
        """Draw lifts; `scores` gives the scores of the models of a case and a lift, one per way to break ties."""
        drawn, n_lifts = {}, {}
        for objective in self.objectives:
            differences = []
            for name in self.compared_sets():
                case = (name, objective)
                normal = scores(case, NONE)
                near = [scores(case, lift) for lift in self.results.sets[name].near[objective]]
                # As many ways for each lift: one that is known twice counts once.
                ways = [
                    [models[i % len(models)] - normal[j % len(normal)] for i in (0, 1) for j in (0, 1)]
                    for models in near
                ]
                differences.append(np.array(ways))
            drawn[objective], n_lifts[objective] = draw(differences), [len(one) for one in differences]
        return Certainty(drawn, n_lifts, self.wins())

    def _trained(self) -> pd.DataFrame:
        """Every model of whole training parts that was scored on the test part, without lift or with one."""
        return pd.concat([self.recorded("final"), self.recorded("near")])

    def constants(self) -> pd.DataFrame:
        """Return for each case whether both models predict the same labels for all instances of the test part."""
        both = self.pairs()
        return pd.DataFrame(
            {name: models["distinct_predictions"] == 1 for name, models in zip(both._fields, both, strict=True)}
        )

    def constant_ties(self) -> dict[tuple[str, str], int]:
        """Return how many ties there are between models that are both constant, by objective and measure."""
        both, constants = self.pairs(), self.constants().all(axis=1)
        ties: dict[tuple[str, str], int] = {}
        for measure in MEASURES:
            equal = (both.relaxed[measure] - both.normal[measure]).round(DIGITS) == 0
            for objective, count in (equal & constants).groupby(level="objective").sum().items():
                ties[str(objective), measure] = int(count)
        return ties

    def redrawn(self, seed: int) -> Analysis:
        """Return the analysis as it would be with lifts drawn at random among those that are nearly as good.

        Training times are not measured for these; statements about them are judged by the chosen lifts.
        """
        random = np.random.default_rng(seed)
        sets, records = {}, dict(self.results.records)
        for name, found in self.results.sets.items():
            ranking = {}
            for objective, lifts in found.ranking.items():
                near = found.near.get(objective) or lifts[:1]
                drawn = near[random.integers(len(near))]
                ranking[objective] = [drawn, *(lift for lift in lifts if lift != drawn)]
                record = records.get(Task("near", name, objective, drawn).key)
                if record is not None:
                    records[Task("final", name, objective, drawn).key] = record
            sets[name] = replace(found, ranking=ranking)
        other = Analysis(replace(self.results, sets=sets, records=records), self.numeric)
        # What does not depend on the chosen lifts is not computed again.
        for kept in ("sensitivity", "times", "speed", "variants", "reference", "data_sets"):
            other.__dict__[kept] = getattr(self, kept)
        return other

    @cached_property
    def published_cells(self) -> pd.DataFrame:
        """Each cell of the published table of wins beside ours, with the reason where they differ."""
        if not self.is_the_papers or list(self.objectives) != list(PAPER_OBJECTIVES):
            return pd.DataFrame()
        numeric = Analysis(self.results, numeric=True).wins() if self.has_numeric else self.beside_wins
        return published_cells(self.wins(), self.mulan_wins(), numeric, self.certainty, self.constant_ties())

    @property
    def win_table(self) -> pd.DataFrame:
        """Wins, losses and ties as one table, with the published ones."""
        versions = {"as published": False} | ({"numeric": True} if self.has_numeric else {})
        return pd.DataFrame(
            {"sets": version, "objective": objective, "measure": measure}
            | vars(found)
            | {"published": str(WINS[objective][measure]) if objective in WINS else None}
            for version, numeric in versions.items()
            for objective, row in self.wins(self.compared_sets(numeric)).items()
            for measure, found in row.items()
        )

    @property
    def rank_table(self) -> pd.DataFrame:
        """Average ranks as one table."""
        return pd.DataFrame(
            {"measure": measure, "approach": name, "average_rank": rank, "sets": found.n_sets}
            | {"friedman_p": found.p_value, "critical_difference": found.critical_difference}
            for measure, found in self.ranks().items()
            for name, rank in found.by_rank()
        )

    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables that are written, by name; those that are empty are left out."""
        tried = ["rules", "conditions", "multi_label_heads", *MEASURES]
        seconds = ["train_s", "score_s"]
        found = {
            "data-sets": self.data_sets,
            "effort": self.effort,
            "chosen-lifts": self.chosen,
            "candidates": self.candidates,
            "model-characteristics": self.models.drop(
                columns=[*METRICS, *_SHARES, *seconds, MULAN_MACRO_F1], errors="ignore"
            ),
            "test-scores": self.models.reindex(columns=[*CASE, "pruning", "lift", *METRICS, MULAN_MACRO_F1]),
            "near-lifts": self.recorded("near").reindex(columns=[*_MODEL, *METRICS, MULAN_MACRO_F1, "rules"]),
            "wins": self.win_table,
            "published-cells": self.published_cells,
            "certainty": pd.DataFrame() if self.certainty is None else self.certainty.by_objective(),
            "ranks": self.rank_table,
            "training-times": self.times.drop(columns="variant", errors="ignore"),
            "sensitivity": self.sensitivity,
            "variants": self.variants.reindex(
                columns=[*_MODEL, "variant", *(f"{name}{of}" for name in tried for of in ("_as_published", ""))]
            ),
            "reference-models": self.reference,
        }
        return {name: table for name, table in found.items() if not table.empty}


_SHARES = {
    "labels_per_head": ("head_labels", "rules"),
    "conditions_per_rule": ("conditions", "rules"),
    "label_condition_share": ("label_conditions", "conditions"),
}


def with_shares(models: pd.DataFrame) -> pd.DataFrame:
    """Models with what there is per rule and per condition."""
    shares = {name: models[part] / models[whole].clip(lower=1) for name, (part, whole) in _SHARES.items()}
    return models.assign(**shares)


def approach_name(objective: str, relaxed: bool) -> str:
    """What an approach is called: relaxed ones have an R, as in the paper."""
    title = find_objective(objective).title
    name = title.rstrip("+-")
    return f"{name} R{title[len(name) :]}" if relaxed else title
