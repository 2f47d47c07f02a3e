"""The learner a second time: loops over instances and labels, exact fractions, nothing shared with the library.

Written from the description of the learner alone, as slowly and plainly as possible, so that the library can be
compared with it on problems of a few instances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise, product

Value = Fraction | str | None
"""A number, a category, or None where missing."""
Head = tuple[tuple[int, int], ...]
"""Pairs of label and value, in label order."""
Matrix = tuple[Fraction, Fraction, Fraction, Fraction]
"""TP, FP, TN, FN."""
Measure = Callable[[Matrix], Fraction]


@dataclass(frozen=True)
class Check:
    """A condition: on an attribute (`<=`, `>`, `=`) or on a label (`label`)."""

    kind: str
    index: int
    against: Fraction | str | int


@dataclass(frozen=True)
class Learned:
    """A rule as the oracle learned it."""

    head: Head
    body: tuple[Check, ...]
    tp: Fraction
    fp: Fraction
    coverage: Fraction
    stop: bool


@dataclass(frozen=True)
class Candidate:
    """A rule that could be learned."""

    body: tuple[Check, ...]
    head: Head
    value: Fraction
    tp: Fraction
    fp: Fraction


def rank(rule: Candidate) -> tuple[Fraction, Fraction, int]:
    """Smaller is better; on a full tie the order of candidates decides, which sorting keeps."""
    return -rule.value, -rule.tp, len(rule.body)


@dataclass(frozen=True)
class Settings:
    """What the learner can be told."""

    measure: str
    beta_squared: Fraction
    lam: Fraction
    averaging: str
    head_search: str
    min_precision: Fraction
    """The share of a rule's predictions that must be right."""
    each_label_right: bool
    only_finished: bool
    """Whether that is asked of finished rules only."""
    lift: tuple[Fraction, ...]
    absence: bool
    label_conditions: bool
    fix_head: bool
    beam_width: int
    remaining: Fraction
    stop_threshold: Fraction
    n_rules: int | None
    max_conditions: int | None
    min_coverage: Fraction


def share(part: Fraction, whole: Fraction) -> Fraction:
    return part / whole if whole else Fraction(0)


def measure_of(settings: Settings) -> Measure:
    """The heuristic as a function of one confusion matrix."""
    b = settings.beta_squared
    formulas: dict[str, Measure] = {
        "hamming": lambda c: share(c[0] + c[2], sum(c, Fraction(0))),
        "f": lambda c: share((1 + b) * c[0], (1 + b) * c[0] + b * c[3] + c[1]),
        "precision": lambda c: share(c[0], c[0] + c[1]),
        "recall": lambda c: share(c[0], c[0] + c[3]),
        "laplace": lambda c: (c[0] + 1) / (c[0] + c[1] + 2),
        "gain": lambda c: c[0] - settings.lam * (c[0] + c[1]),
    }
    return formulas[settings.measure]


class Learner:
    """Separate and conquer over rows of values and rows of labels."""

    def __init__(
        self,
        rows: Sequence[Sequence[Value]],
        categories: Sequence[Sequence[str] | None],
        truth: Sequence[Sequence[int]],
        weights: Sequence[Fraction],
        settings: Settings,
    ):
        self.rows, self.categories, self.truth, self.weights = rows, categories, truth, weights
        self.settings = settings
        self.n_labels = len(truth[0])
        self.training = list(range(len(rows)))
        self.predicted: list[list[int | None]] = [[None] * self.n_labels for _ in rows]
        self.labels_used: set[int] = set()
        self.labels_left = set(range(self.n_labels))
        """Those that may be in heads."""
        self.unfinished = False
        """Whether rules are grown that need not be precise yet."""

    # The loop ----------------------------------------------------------------------------------------------

    def learn(self) -> list[Learned]:
        rules: list[Learned] = []
        everything = self.weight(range(len(self.rows)))
        while self.weight(self.training) > self.settings.remaining * everything:
            if self.settings.n_rules is not None and len(rules) >= self.settings.n_rules:
                break
            found = self.best_rule()
            if found is None:
                break
            rules.append(self.apply(found))
        return rules

    def apply(self, rule: Candidate) -> Learned:
        head, covered = rule.head, self.covered(rule.body)
        for i in covered:
            for label, value in head:
                if self.predicted[i][label] is None:
                    self.predicted[i][label] = value
        self.labels_used |= {label for label, _ in head}
        unfinished = [
            i
            for i in covered
            if any(
                self.predicted[i][l] is None and (self.settings.absence or self.truth[i][l] == 1)
                for l in range(self.n_labels)
            )
        ]
        coverage = self.weight(covered)
        stop = self.weight(unfinished) / coverage <= self.settings.stop_threshold
        if stop:
            self.training = [i for i in self.training if i not in covered]
        return Learned(head, rule.body, rule.tp, rule.fp, coverage, stop)

    # Bodies ------------------------------------------------------------------------------------------------

    def weight(self, instances: Sequence[int] | range) -> Fraction:
        return sum((self.weights[i] for i in instances), Fraction(0))

    def holds(self, test: Check, i: int) -> bool:
        if test.kind == "label":
            return self.predicted[i][test.index] == test.against
        value = self.rows[i][test.index]
        if value is None:
            return False
        if test.kind == "=":
            return value == test.against
        assert isinstance(value, Fraction)
        assert isinstance(test.against, Fraction)
        return value <= test.against if test.kind == "<=" else value > test.against

    def covered(self, body: tuple[Check, ...]) -> list[int]:
        return [i for i in self.training if all(self.holds(test, i) for test in body)]

    def checks(self, body: tuple[Check, ...]) -> Iterator[Check]:
        """Every condition that could be added, in order."""
        inside = self.covered(body)
        for column, names in enumerate(self.categories):
            if names is not None:
                for name in names:
                    yield Check("=", column, name)
                continue
            values = sorted({v for i in inside if isinstance(v := self.rows[i][column], Fraction)})
            for below, above in pairwise(values):
                yield Check("<=", column, (below + above) / 2)
                yield Check(">", column, (below + above) / 2)
        if self.settings.label_conditions:
            for label in sorted(self.labels_used):
                yield Check("label", label, 0)
                yield Check("label", label, 1)

    # Counting ----------------------------------------------------------------------------------------------

    def matrix(self, body: tuple[Check, ...], label: int, value: int, also_closed: Sequence[int] = ()) -> Matrix:
        """The confusion matrix of one assignment; instances in `also_closed` count though their pair is closed."""
        tp = fp = tn = fn = Fraction(0)
        inside = self.covered(body)
        for i in self.training:
            weight, y = self.weights[i], self.truth[i][label]
            if i not in inside:
                if y == 1:
                    fn += weight
                else:
                    tn += weight
            elif self.predicted[i][label] is None or i in also_closed:
                if y == value:
                    tp += weight
                else:
                    fp += weight
        return tp, fp, tn, fn

    def head_matrices(self, body: tuple[Check, ...], head: Head, fixed: bool) -> list[Matrix]:
        also_closed: list[int] = []
        if fixed:
            also_closed = [i for i in self.training if any(self.predicted[i][l] is None for l, _ in head)]
        return [self.matrix(body, l, v, also_closed) for l, v in head]

    def value(self, body: tuple[Check, ...], head: Head, fixed: bool) -> tuple[Fraction, Fraction, Fraction]:
        """h, TP and FP of a rule."""
        matrices = self.head_matrices(body, head, fixed)
        tp, fp, tn, fn = (sum((m[k] for m in matrices), Fraction(0)) for k in range(4))
        if self.settings.measure == "subset":
            return self.subset_accuracy(body, head), tp, fp
        h = measure_of(self.settings)
        if self.settings.measure == "gain":
            return sum((h(m) for m in matrices), Fraction(0)), tp, fp
        if self.settings.averaging == "macro" or self.settings.measure == "hamming":
            return sum((h(m) for m in matrices), Fraction(0)) / len(matrices), tp, fp
        return h((tp, fp, tn, fn)), tp, fp

    def subset_accuracy(self, body: tuple[Check, ...], head: Head) -> Fraction:
        inside = self.covered(body)
        right = counted = Fraction(0)
        for i in self.training:
            if all(self.predicted[i][l] is not None for l, _ in head):
                continue
            counted += self.weights[i]
            if i in inside:
                is_right = all(self.truth[i][l] == v for l, v in head)
            else:
                is_right = all(self.truth[i][l] == 0 for l, _ in head)
            if is_right:
                right += self.weights[i]
        return share(right, counted)

    # Heads -------------------------------------------------------------------------------------------------

    def best_head(self, body: tuple[Check, ...]) -> tuple[Head, Fraction, Fraction, Fraction] | None:
        """The head that the search finds, with its (lifted) value, TP and FP."""
        tested = {test.index for test in body if test.kind == "label"}
        labels = [l for l in range(self.n_labels) if l in self.labels_left and l not in tested]
        search = self.settings.head_search
        if search in ("exhaustive", "anti_monotone"):
            found = self.head_from_label_sets(body, labels)
        else:
            found = self.head_from_singles(body, labels)
        if found is None or not (self.unfinished or self.precise(found[2], found[3])):
            return None
        return found

    def precise(self, tp: Fraction, fp: Fraction) -> bool:
        return tp >= self.settings.min_precision * (tp + fp)

    def may_be_in_head(self, tp: Fraction, fp: Fraction) -> bool:
        if self.settings.measure == "gain" and tp - self.settings.lam * (tp + fp) <= 0:
            return False
        return tp > 0 and (self.precise(tp, fp) or self.unfinished or not self.settings.each_label_right)

    def head_from_singles(
        self, body: tuple[Check, ...], labels: list[int]
    ) -> tuple[Head, Fraction, Fraction, Fraction] | None:
        singles: list[tuple[Fraction, Fraction, int, int]] = []
        for label in labels:
            options = []
            for value in (1, 0) if self.settings.absence else (1,):
                h, tp, fp = self.value(body, ((label, value),), fixed=False)
                if self.may_be_in_head(tp, fp):
                    options.append((h, tp, label, value))
            if options:
                # max gives the first of equals, which is presence.
                singles.append(max(options, key=lambda option: option[0]))
        if not singles:
            return None
        singles.sort(key=lambda s: (-s[0], -s[1], s[2]))

        def prefix(length: int) -> tuple[Head, Fraction, Fraction, Fraction]:
            head = tuple(sorted((label, value) for _, _, label, value in singles[:length]))
            return (head, *self.value(body, head, fixed=False))

        search = self.settings.head_search
        if search == "single":
            return prefix(1)
        if search == "decomposable":
            return prefix(sum(h == singles[0][0] for h, _, _, _ in singles))
        lift = self.settings.lift
        best: tuple[Head, Fraction, Fraction, Fraction] | None = None
        for k in range(1, len(singles) + 1):
            head, h, tp, fp = prefix(k)
            if best is None or h * lift[k - 1] >= best[1]:
                best = (head, h * lift[k - 1], tp, fp)
            if k < self.n_labels and h * max(lift[k:]) < best[1]:
                break
        return best

    def head_from_label_sets(
        self, body: tuple[Check, ...], labels: list[int]
    ) -> tuple[Head, Fraction, Fraction, Fraction] | None:
        """Label sets with every choice of values, short ones first; best value, then longest, then most TP, then first.

        The anti-monotone search knows no lift, and leaves out what contains a head that fell below the best.
        """
        exhaustive = self.settings.head_search == "exhaustive"
        best: tuple[tuple[Fraction, int, Fraction], Head, Fraction, Fraction, Fraction] | None = None
        cut: list[Head] = []
        for length in range(1, len(labels) + 1):
            seen: list[tuple[Fraction, Head]] = []
            for chosen in combinations(labels, length):
                for values in product((1, 0) if self.settings.absence else (1,), repeat=length):
                    head = tuple(zip(chosen, values, strict=True))
                    if not all(self.may_be_in_head(*self.matrix(body, l, v)[:2]) for l, v in head):
                        continue
                    if any(set(short) <= set(head) for short in cut):
                        continue
                    h, tp, fp = self.value(body, head, fixed=False)
                    if exhaustive:
                        h *= self.settings.lift[length - 1]
                    seen.append((h, head))
                    key = (h, length, tp)
                    if best is None or key > best[0]:
                        best = (key, head, h, tp, fp)
            if not exhaustive and best is not None:
                cut += [head for h, head in seen if h < best[2]]
        return best and best[1:]

    # Rules -------------------------------------------------------------------------------------------------

    def best_rule(self) -> Candidate | None:
        if not self.settings.only_finished:
            return self.grow()
        while True:
            self.unfinished = True
            found = self.grow()
            self.unfinished = False
            wrong = set() if found is None else self.labels_not_right_enough(found)
            if not wrong:
                return found
            before = self.labels_left
            self.labels_left = wrong
            found = self.grow()
            self.labels_left = before
            if found is not None:
                return found
            self.labels_left = before - wrong

    def labels_not_right_enough(self, rule: Candidate) -> set[int]:
        wrong = set()
        for label, value in rule.head:
            tp, fp, _, _ = self.matrix(rule.body, label, value)
            if self.settings.each_label_right and not self.precise(tp, fp):
                wrong.add(label)
        if not self.precise(rule.tp, rule.fp) and not wrong:
            wrong = {label for label, _ in rule.head}
        return wrong

    def grow(self) -> Candidate | None:
        beam = self.best_of(self.first_pass())
        seen = list(beam)
        while beam:
            beam = self.best_of([better for rule in beam for better in self.refinements(rule)])
            seen += beam
        return min(seen, key=rank) if seen else None

    def best_of(self, rules: list[Candidate]) -> list[Candidate]:
        """The best ones, as many as the beam is wide; the same conditions in another order are the same rule."""
        chosen: list[Candidate] = []
        for rule in sorted(rules, key=rank):
            if all((set(rule.body), rule.head) != (set(other.body), other.head) for other in chosen):
                chosen.append(rule)
        return chosen[: self.settings.beam_width]

    def longer_bodies(self, body: tuple[Check, ...]) -> list[tuple[Check, ...]]:
        if self.settings.max_conditions is not None and len(body) >= self.settings.max_conditions:
            return []
        return [(*body, check) for check in self.checks(body)]

    def first_pass(self) -> list[Candidate]:
        return [found for body in [(), *self.longer_bodies(())] if (found := self.with_best_head(body)) is not None]

    def refinements(self, rule: Candidate) -> list[Candidate]:
        """Rules of one condition more that are better than the given one."""
        better = []
        for body in self.longer_bodies(rule.body):
            if self.settings.fix_head:
                last = body[-1]
                if last.kind == "label" and any(last.index == label for label, _ in rule.head):
                    continue
                refined = self.with_fixed_head(rule, body)
                if not self.covers_enough(body) or refined.tp == 0:
                    continue
                if not (self.unfinished or self.precise(refined.tp, refined.fp)):
                    continue
                if self.settings.measure == "gain" and refined.value <= 0:
                    continue
            else:
                found = self.with_best_head(body)
                if found is None:
                    continue
                refined = found
            if (refined.value, refined.tp) > (rule.value, rule.tp):
                better.append(refined)
        return better

    def covers_enough(self, body: tuple[Check, ...]) -> bool:
        return self.weight(self.covered(body)) >= self.settings.min_coverage

    def with_best_head(self, body: tuple[Check, ...]) -> Candidate | None:
        found = self.best_head(body) if self.covers_enough(body) else None
        return None if found is None else Candidate(body, *found)

    def with_fixed_head(self, rule: Candidate, body: tuple[Check, ...]) -> Candidate:
        value, tp, fp = self.value(body, rule.head, fixed=True)
        return Candidate(body, rule.head, value, tp, fp)
