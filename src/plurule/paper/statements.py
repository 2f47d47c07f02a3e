"""What the paper states about its experiments, each statement checked against the results: does it hold here?

Every check says in words what it looks at, so that a reader can disagree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from plurule.paper import verdicts
from plurule.paper.experiment import Results
from plurule.paper.selected_rules import Selection
from plurule.paper.verdicts import CLEAR, Evidence, Verdict


@dataclass(frozen=True)
class Statement:
    """A statement of the paper."""

    section: str
    text: str
    criterion: str
    """What is looked at, and when the statement counts as true."""
    verdict: Verdict

    @property
    def word(self) -> str:
        """The verdict in words."""
        return {True: "holds", False: "does not hold", None: "not judged"}[self.verdict.holds]


SENSITIVITY, COSTS, PERFORMANCE = "Sensitivity and characteristics", "Computational costs", "Predictive performance"
RULES, ELSEWHERE = "Exemplary rules", "Elsewhere in the paper"

_CHECKS: tuple[tuple[str, str, str, Callable[[Evidence], Verdict]], ...] = (
    (
        SENSITIVITY,
        "Greater lifts tend to result in larger heads and fewer rules (KLN, macro F, flags).",
        f"mean rank correlation with the lift at most -{CLEAR} for rules, at least {CLEAR} for labels per head",
        lambda e: verdicts.trend(e, {"rules": -1, "labels_per_head": 1}, "kln"),
    ),
    (
        SENSITIVITY,
        "If the lift is too high, very generic rules are learned that cannot model the training data accurately.",
        "at the highest lift tried, training Hamming accuracy lower by 0.05, and a third fewer conditions per rule",
        verdicts.too_high,
    ),
    (
        SENSITIVITY,
        "The average number of conditions in the bodies decreases with higher lifts.",
        f"mean rank correlation with the lift at most -{CLEAR}",
        lambda e: verdicts.trend(e, {"conditions_per_rule": -1}, "kln"),
    ),
    (
        SENSITIVITY,
        "The percentage of label conditions approaches zero even for a moderate lift.",
        "at most 2 % of the conditions on average from lift 1.2 on",
        verdicts.label_conditions_vanish,
    ),
    (
        SENSITIVITY,
        "For Peak the overall trend is identical, but the maximum number of labels in the head is typically limited.",
        "the same trends, and longest heads shorter on average than those of KLN",
        verdicts.peak_limits_heads,
    ),
    (
        SENSITIVITY,
        "The observations of the sensitivity analysis also seem to hold for the best lift setting (birds).",
        "fewer rules, longer heads, fewer conditions per rule and no more label conditions in most models of birds",
        lambda e: verdicts.compact(e, [p for p in e.pairs if p.dataset == "birds"]),
    ),
    (
        SENSITIVITY,
        "The same on all sets.",
        "the same in most models of all sets",
        lambda e: verdicts.compact(e, e.pairs),
    ),
    (
        COSTS,
        "Relaxed pruning is faster in most of the cases.",
        "less CPU time in more than half of the cases",
        verdicts.faster,
    ),
    (
        COSTS,
        "Typically, a speedup between 10 % and 25 % can be observed.",
        "the median speedup is in that range",
        verdicts.typical_speedup,
    ),
    (
        COSTS,
        "The speedup most likely results from fewer rules being learned.",
        "rank correlation of the ratios of rules and of times at least 0.4",
        verdicts.rules_explain_time,
    ),
    (
        COSTS,
        "The average number of conditions per rule decreases when using relaxed pruning.",
        "lower in more than half of the cases",
        verdicts.shorter_bodies,
    ),
    (
        PERFORMANCE,
        "Relaxed pruning results in a predictive performance that is comparable to that of the baseline.",
        "the target measure changes by less than 0.02 on average",
        verdicts.comparable,
    ),
    (
        PERFORMANCE,
        "A decline in performance with HA+.",
        "more losses than wins over the four measures",
        verdicts.tally_of("ha+", -1),
    ),
    (
        PERFORMANCE,
        "A decline in performance with macro F+.",
        "more losses than wins over the four measures",
        verdicts.tally_of("macro-f+", -1),
    ),
    (
        PERFORMANCE,
        "An improvement with macro F+-.",
        "more wins than losses over the four measures",
        verdicts.tally_of("macro-f+-", 1),
    ),
    (
        PERFORMANCE,
        "An improvement, in particular, with HA+-.",
        "more wins than losses over the four measures",
        verdicts.tally_of("ha+-", 1),
    ),
    (
        PERFORMANCE,
        "For micro F+ the performance is quite similar.",
        "wins and losses differ by at most a fifth of both together",
        verdicts.tally_of("micro-f+", 0),
    ),
    (
        PERFORMANCE,
        "HA R+- ranks highest on average with respect to Hamming accuracy.",
        "lowest average rank",
        verdicts.best_rank("hamming_accuracy"),
    ),
    (
        PERFORMANCE,
        "HA R+- also ranks highest for subset accuracy.",
        "lowest average rank",
        verdicts.best_rank("subset_accuracy"),
    ),
    (
        PERFORMANCE,
        "For micro F1, the best models are those of Mic F R+.",
        "lowest average rank",
        verdicts.best_rank("micro_f1"),
    ),
    (
        PERFORMANCE,
        "For macro F1, the best models are those of Mic F R+.",
        "lowest average rank",
        verdicts.best_rank("macro_f1"),
    ),
    (
        PERFORMANCE,
        "In the majority of the cases, the Peak lift function is preferred to KLN.",
        "chosen in more than half of the cases",
        verdicts.peak_preferred,
    ),
    (
        PERFORMANCE,
        "A trend towards lifts clearly greater than 1.",
        "median of the chosen lifts at least 1.08",
        verdicts.clearly_above_one,
    ),
    (
        PERFORMANCE,
        "The parameter for the lift mainly depends on the average number of labels per instance (an assumption).",
        "rank correlation of at least 0.4 in size",
        verdicts.cardinality,
    ),
    (
        PERFORMANCE,
        "A greater peak might be beneficial if the absence of labels is predicted too (an expectation).",
        "greater mean peak among the chosen lifts",
        verdicts.greater_peak,
    ),
    (
        RULES,
        "Multi-label heads and label conditions may even be equivalent in meaning.",
        "a pair of rules and a rule that say the same is found among the selected ones",
        verdicts.equivalent,
    ),
    (
        RULES,
        "Relaxed pruning results in fewer label conditions and significantly more multi-label heads.",
        "more multi-label heads in most cases, and label conditions become fewer more often than more",
        verdicts.more_heads,
    ),
    (
        RULES,
        "Multi-label heads often provide a more compact representation.",
        "fewer rules and conditions together in more than half of the cases",
        verdicts.compact_representation,
    ),
    (
        ELSEWHERE,
        "Gains in performance for 3 out of 6 tested objectives (Conclusions).",
        "more wins than losses for at least half of the objectives",
        verdicts.gains,
    ),
    (
        ELSEWHERE,
        "Multi-label heads are unlikely to be learned by existing methods (Abstract, Introduction).",
        "less than 5 % of the rules learned without lift",
        verdicts.rare_heads,
    ),
    (
        ELSEWHERE,
        "For micro-averaged measures the approximation seems to work well in practice (Section 4).",
        "micro F1 on average at most 0.02 below that of an exhaustive search of heads",
        verdicts.approximation,
    ),
    (
        ELSEWHERE,
        "If heads are searched anew for each body, multi-label heads are often discarded (Section 4, fixing the head).",
        "fewer multi-label heads in most cases",
        verdicts.fixed_heads,
    ),
    (
        ELSEWHERE,
        "Fixing the head usually decreases the time required for building a model (Section 4).",
        "less CPU time in more than half of the cases",
        verdicts.fixed_heads_time,
    ),
)


def check_statements(results: Results, selections: list[Selection]) -> list[Statement]:
    """Every statement, with its verdict."""
    evidence = Evidence(results, selections)
    return [Statement(section, text, criterion, check(evidence)) for section, text, criterion, check in _CHECKS]
