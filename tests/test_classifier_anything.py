"""Whatever is given to the public API: it works and agrees with itself, or an error says why not."""

from __future__ import annotations

import tempfile
import traceback
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plurule import RelaxedPruningClassifier, RuleList, RuleListClassifier
from plurule.data import read
from plurule.errors import PluruleError
from plurule.heuristics import FMeasure, HammingAccuracy, Laplace, Precision, SubsetAccuracy
from plurule.lifts import KLN, Peak

NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 2.0**53, 0.1 + 0.2]),
    st.integers(-3, 3).map(float),
    st.floats(width=32),
)
TEXTS = st.one_of(
    st.sampled_from(["", " ", "a", "1", "nan", "=1+1", "a\x1b[31m", "x\ny", "é", "\ud800"]), st.text(max_size=4)
)
CELLS = st.one_of(NUMBERS, TEXTS, st.none(), st.booleans(), st.integers())
PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "heuristic": st.sampled_from(
            ["f_measure", "x", None, FMeasure(0.0), HammingAccuracy(), Laplace(), Precision(), SubsetAccuracy()]
        ),
        "head_search": st.sampled_from(["relaxed", "single", "exhaustive", "decomposable", "anti_monotone", "x"]),
        "averaging": st.sampled_from(["micro", "macro"]),
        "lift": st.sampled_from([None, KLN(0.1), Peak(2, 1.2), KLN, 3, lambda labels: 1.0]),
        "predict_absence": st.booleans(),
        "label_conditions": st.booleans(),
        "max_rules": st.sampled_from([None, 1, 3, 0, 10**30]),
        "beam_width": st.sampled_from([1, 2, 5, 1001, True]),
        "min_coverage": st.sampled_from([0, 1, 2.5, 1e300, -1]),
        "min_precision": st.sampled_from([None, 0.0, 0.6, 1.0, 2]),
        "max_bins": st.sampled_from([None, 2, 10**30]),
        "max_conditions": st.sampled_from([None, 0, 1, 10**30]),
        "remaining": st.sampled_from([0, 0.5, 1]),
        "stop_threshold": st.sampled_from([0, 0.5, 1]),
        "n_jobs": st.sampled_from([None, 1, 2, -1, 2**70]),
    },
)


SELECTING = st.fixed_dictionaries(
    {},
    optional={
        "scoring": st.sampled_from(["micro_f1", "macro_f1", "f1_samples", "x"]),
        "lift": st.sampled_from([None, KLN(0.1), Peak(2, 1.2), KLN, 3, lambda labels: 1.0]),
        "score_tolerance": st.sampled_from([0, 0.1, -1]),
        "predict_absence": st.sampled_from(["auto", True, False]),
        "max_rules": st.sampled_from([1, 3, 0, 10**30]),
        "cv": st.sampled_from([2, 3, 0.5, 0, 10**9, "mulan"]),
        "min_coverage": st.sampled_from([0, 1, 2.5, 1e300, -1]),
        "min_precision": st.sampled_from(["auto", None, 0.0, 0.6, 1.0, 2]),
        "max_bins": st.sampled_from([None, 2, 10**30]),
        "max_conditions": st.sampled_from([None, 0, 1, 10**30]),
        "n_jobs": st.sampled_from([None, 1, 2, -1, 2**70]),
    },
)


@st.composite
def attributes(draw: Any, n_rows: int) -> Any:
    form = draw(st.sampled_from(["array", "sparse", "frame", "object", "dates"]))
    n_columns = draw(st.integers(0 if form == "frame" else 1, 4))
    if form in ("frame", "object"):
        kind = st.sampled_from([NUMBERS, TEXTS, CELLS])
        columns = [draw(st.lists(draw(kind), min_size=n_rows, max_size=n_rows)) for _ in range(n_columns)]
        names = draw(st.lists(st.one_of(TEXTS, st.integers(0, 3)), min_size=n_columns, max_size=n_columns))
        kinds = [float if all(isinstance(cell, float) for cell in column) else object for column in columns]
        series = [pd.Series(column, dtype=dtype) for column, dtype in zip(columns, kinds, strict=True)]
        frame = pd.DataFrame(index=range(n_rows)) if not series else pd.concat(series, axis=1)
        frame.columns = pd.Index(names, dtype=object)
        return frame if form == "frame" else frame.to_numpy()
    if form == "dates":
        days = draw(st.lists(st.sampled_from(["2020-01-01", "NaT", "1677-09-22"]), min_size=n_rows, max_size=n_rows))
        return np.array(days, dtype="datetime64[ns]").reshape(n_rows, 1)
    values = draw(st.lists(NUMBERS, min_size=n_rows * n_columns, max_size=n_rows * n_columns))
    array = np.array(values, dtype=float).reshape(n_rows, n_columns)
    return draw(st.sampled_from([sp.csr_array, sp.csc_matrix, sp.coo_array]))(array) if form == "sparse" else array


@st.composite
def problems(draw: Any) -> tuple[Any, Any, Any]:
    n_rows = draw(st.integers(0, 12))
    X = draw(attributes(n_rows))
    n_labels = draw(st.integers(0, 5))
    cells = st.sampled_from([0, 1]) if draw(st.integers(0, 9)) else CELLS
    Y = draw(st.lists(st.lists(cells, min_size=n_labels, max_size=n_labels), min_size=n_rows, max_size=n_rows))
    form = draw(st.sampled_from(["list", "array", "sparse", "frame", "flat"]))
    if form == "sparse" and all(isinstance(cell, int) for row in Y for cell in row):
        Y = sp.csr_array(np.array(Y, dtype=int).reshape(n_rows, n_labels))
    elif form == "flat":
        Y = [row[0] if row else 0 for row in Y]
    elif form == "frame":
        Y = pd.DataFrame(Y, columns=range(n_labels))
    weights = st.lists(st.sampled_from([0, 1, 0.7, 2.1, 1e-100, 1e100, np.nan]), min_size=n_rows, max_size=n_rows)
    return X, Y, draw(st.one_of(st.none(), st.none(), weights))


def try_everything(learner: Any, problem: tuple[Any, Any, Any]) -> None:
    """Fit, and use the model in every way; a problem that cannot be learned from may be refused."""
    X, Y, weights = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            fitted = learner.fit(X, Y, weights)
        except PluruleError:
            return
        except (TypeError, ValueError) as error:
            if "sklearn" in traceback.extract_tb(error.__traceback__)[-1].filename:
                return
            raise
        rules = fitted.rule_list_
        predicted = fitted.predict(X)
        dense = predicted.toarray() if sp.issparse(predicted) else predicted
        probability = fitted.predict_proba(X)
        assert all(np.isfinite(shares).all() for shares in probability)
        if isinstance(probability, list):  # columns of classes
            for classes, shares, column in zip(fitted.classes_, probability, dense.T, strict=True):
                np.testing.assert_array_equal(classes[shares.argmax(axis=1)], column)
        elif dense.ndim == 2:
            assert ((probability > 0) & (probability < 1)).all()
            assert [list(map(int, row)) for row in dense] == [
                [int(d.present) for d in one.decisions] for one in fitted.explain(X)
            ]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            rules.save(path)
            assert RuleList.load(path) == rules
        with suppress(PluruleError):  # names that no database can have
            rules.to_sql()
        for form in (rules.to_python, rules.to_markdown, rules.to_latex, rules.to_html, rules.to_frame):
            form()
        assert [rules.parse(rule.to_text()).body for rule in rules] == [rule.body for rule in rules]


LEARNERS = st.one_of(
    PARAMETERS.map(lambda parameters: RelaxedPruningClassifier(**parameters)),
    SELECTING.map(lambda parameters: RuleListClassifier(**parameters)),
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(LEARNERS, problems())
def test_anything_is_learned_from_or_refused_in_words(learner: Any, problem: Any) -> None:
    try_everything(learner, problem)


@pytest.mark.long
@settings(max_examples=5000, deadline=None, suppress_health_check=list(HealthCheck))
@given(LEARNERS, problems())
def test_anything_at_all_is_learned_from_or_refused_in_words(learner: Any, problem: Any) -> None:
    try_everything(learner, problem)


def test_dates_of_any_source_give_the_same_rules_and_predictions(tmp_path):
    days = pd.date_range("2024-01-01", periods=120)
    frame = pd.DataFrame({"received": days, "late": (days >= "2024-03-19").astype(int), "odd": days.day % 2})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    pl.from_pandas(frame).with_columns(pl.col("received").cast(pl.Date)).write_parquet(tmp_path / "u.parquet")
    sources = [frame, pl.from_pandas(frame), *(tmp_path / name for name in ("t.csv", "t.parquet", "u.parquet"))]
    data = [read(source, labels=["late", "odd"]) for source in sources]
    data += [read(frame.assign(received=days.tz_localize("UTC")), labels=["late", "odd"])]
    lists = [RuleListClassifier().fit(one).rule_list_ for one in data]
    assert "received < 2024-03-" in str(lists[0])
    assert all(one == lists[0] for one in lists)
    lists[0].save(tmp_path / "model.json")
    model = RuleList.load(tmp_path / "model.json")
    texts = pd.DataFrame({"received": days.strftime("%Y-%m-%d")})
    for source in (*data, texts, frame[["received"]], pl.from_pandas(frame).lazy()):
        np.testing.assert_array_equal(model.predict(source), lists[0].predict(data[0]))
