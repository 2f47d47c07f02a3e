"""Data that are never in memory as a whole give the model that they would give in memory."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import ShuffleSplit

from helpers.datasets import write_arff
from helpers.scans import LABELS, ONE_LIST, learner, model
from plurule import DataError, ParameterError, RelaxedPruningClassifier, RuleListClassifier, read, scan
from plurule.constraints import Constraints
from plurule.data import Dataset
from plurule.datasets import load_world_flags
from plurule.distributed.storage import CheckpointError
from plurule.errors import PluruleError
from plurule.heuristics import SubsetAccuracy
from plurule.model.file import dumps

SHUFFLED = ShuffleSplit(2, test_size=0.2, random_state=0)


def test_groups_of_rows_of_parquet_files(frame: pd.DataFrame, expected: str, tmp_path: Path):
    frame[:1000].to_parquet(tmp_path / "a.parquet", row_group_size=300, index=False)
    frame[1000:1000].to_parquet(tmp_path / "b.parquet", index=False)
    frame[1000:].to_parquet(tmp_path / "c.parquet", index=False)
    assert model(scan(tmp_path / "*.parquet", LABELS)) == expected


@pytest.mark.parametrize("chunk", [1000, 20_000, None])
def test_chunks_of_csv_files_cut_no_row_though_fields_hold_line_breaks(
    chunk: int | None, frame: pd.DataFrame, tmp_path: Path
):
    frame[: chunk and chunk // 4].to_csv(tmp_path / "a.csv", index=False)
    assert model(scan(tmp_path / "a.csv", LABELS, chunk=chunk)) == model(read(tmp_path / "a.csv", LABELS))


def test_rows_of_arff_files(tmp_path: Path):
    write_arff(load_world_flags(), tmp_path / "flags.arff")
    assert model(scan(tmp_path / "flags.arff", chunk=5000)) == model(read(tmp_path / "flags.arff"))


def test_arrays_that_are_mapped_to_memory(frame: pd.DataFrame, tmp_path: Path):
    np.save(tmp_path / "X.npy", frame[["a", "b", "c"]].to_numpy(float))
    np.save(tmp_path / "Y.npy", frame[LABELS].to_numpy())
    X, Y = (np.load(tmp_path / name, mmap_mode="r") for name in ("X.npy", "Y.npy"))
    classifier = RelaxedPruningClassifier(**ONE_LIST).fit(scan((X, Y), chunk=700))
    assert dumps(classifier.rule_list_) == dumps(RelaxedPruningClassifier(**ONE_LIST).fit(X, Y).rule_list_)
    assert np.array_equal(classifier.predict(X), RelaxedPruningClassifier(**ONE_LIST).fit(X, Y).predict(X))


def test_a_function_that_gives_frames(frame: pd.DataFrame, expected: str):
    def frames() -> Iterator[pd.DataFrame]:
        for start in range(0, len(frame), 450):
            yield frame[start : start + 450]

    assert model(scan(frames, LABELS)) == expected


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_neither_threads_nor_the_folder_matter(n_jobs: int, frame: pd.DataFrame, expected: str, tmp_path: Path):
    parts = [frame[:500], frame[500:]]
    assert model(scan(parts, LABELS, folder=tmp_path), n_jobs=n_jobs) == expected
    assert not list(tmp_path.iterdir())


def test_weights_labels_and_constants_are_those_of_the_data_in_memory(frame: pd.DataFrame):
    rng = np.random.default_rng(2)
    data = read(frame, LABELS)
    data = Dataset(data.X, data.Y, data.label_names, rng.choice([0, 0.5, 1, 2.5], len(data)))
    given = {"predict_absence": True, "min_coverage": 20, "max_bins": 7}
    one = RelaxedPruningClassifier(**(ONE_LIST | given)).fit(data)
    other = RelaxedPruningClassifier(**(ONE_LIST | given)).fit(scan([data[:1200], data[1200:1900], data[1900:]]))
    assert dumps(one.rule_list_) == dumps(other.rule_list_)
    assert one.labels_without_rules_ == other.labels_without_rules_
    assert one.n_features_in_ == other.n_features_in_
    assert one.feature_names_in_.tolist() == other.feature_names_in_.tolist()


def test_a_threshold_inside_a_bin_is_as_short_as_in_memory():
    # The first condition leaves rows of bins far apart, so that the middle lies inside another bin.
    rng = np.random.default_rng(4)
    a = rng.normal(size=4000)
    b = (np.abs(a) > 1.2).astype(float)
    Y = np.column_stack([(b == 1) & (a > 0), b == 1, rng.random(4000) < 0.3]).astype(int)
    X = np.column_stack([b, a])
    given = ONE_LIST | {"max_bins": 6, "head_search": "single"}
    one = learner(**given).fit(X, Y)
    assert dumps(one.rule_list_) == dumps(learner(**given).fit(scan((X, Y), chunk=999)).rule_list_)


# Chosen on held-out rows -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"cv": 5},
        {"cv": 0.3, "scoring": "macro_f1", "max_rules": 6},
        {"cv": 3, "scoring": "subset_accuracy", "max_bins": 5, "max_conditions": 2},
        {"cv": 2, "scoring": "example_f1", "predict_absence": True, "max_conditions": 2},
        {"cv": 2, "score_tolerance": 0.05, "min_precision": 0.5, "max_rules": 7},
        {"cv": 3, "max_bins": None, "max_rules": 5},
        {"min_coverage": 60, "cv": SHUFFLED},
    ],
    ids=str,
)
def test_what_is_chosen_on_held_out_rows_is_what_is_chosen_in_memory(given: dict[str, Any], frame: pd.DataFrame):
    data = read(frame[:600].round(3), LABELS)
    one = learner(**given).fit(data)
    other = learner(**given).fit(scan([data[:9], data[9:9], data[9:]]))
    assert len(one.rule_list_) > 1
    assert other.rule_list_.rules == one.rule_list_.rules
    # The mean of F over rows depends on the order in which it is added up, in its last digit.
    assert given.get("scoring") == "example_f1" or dumps(other.rule_list_) == dumps(one.rule_list_)
    assert other.chosen_ == {name: pytest.approx(value, abs=1e-12) for name, value in one.chosen_.items()}
    assert other.length_curve_.scores == pytest.approx(one.length_curve_.scores, abs=1e-12)
    assert other.labels_without_rules_ == one.labels_without_rules_


@pytest.mark.parametrize("rules", ["two <- b <= 2", pytest.param("", marks=pytest.mark.long)])
def test_what_is_chosen_with_weights_and_initial_rules_is_what_is_chosen_in_memory(rules: str, frame: pd.DataFrame):
    data = read(frame[:900], LABELS)
    data = Dataset(data.X, data.Y, data.label_names, np.random.default_rng(3).choice([0, 0.5, 1, 2.5], len(data)))
    one = RuleListClassifier(cv=2, max_conditions=2).fit(data, initial_rules=rules)
    other = RuleListClassifier(cv=2, max_conditions=2).fit(scan([data[:200], data[200:]]), initial_rules=rules)
    assert dumps(other.rule_list_) == dumps(one.rule_list_)
    assert other.chosen_ == one.chosen_


@pytest.mark.parametrize("given", [{"max_rules": None}, {"cv": 2, "max_rules": 8}], ids=str)
def test_of_labels_that_exclude_each_other_one_is_predicted_as_in_memory(given: dict[str, Any]):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    classes = np.argmax(X[:, :3] + rng.normal(size=(500, 3)) / 2, axis=1)
    Y = np.column_stack([np.eye(3, dtype=int)[classes], X[:, 3] > 0]).astype(int)
    constraints = Constraints(exclusive_labels=[("y0", "y1", "y2")])
    one = learner(**given, constraints=constraints).fit(X, Y)
    other = learner(**given, constraints=constraints).fit(scan((X, Y), chunk=170))
    assert dumps(other.rule_list_) == dumps(one.rule_list_)
    assert (other.predict(X)[:, :3].sum(axis=1) == 1).all()


# Ended before the end ----------------------------------------------------------------------------------------------


def killed_after(rules: int, data: Any, **given: Any) -> None:
    """Learn in this process until it kills itself."""

    def kill(found: int, share: float) -> None:
        if found == rules:
            os.kill(os.getpid(), signal.SIGKILL)

    learner(**given, verbose=kill).fit(data)


def test_a_fit_that_was_killed_goes_on_with_the_same_model_and_its_folder_is_removed(
    frame: pd.DataFrame, expected: str, tmp_path: Path
):
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=1000, index=False)
    source, file, folder = tmp_path / "a.parquet", tmp_path / "rules.jsonl", tmp_path / "blocks"
    folder.mkdir()
    given = {"checkpoint": file, "folder": folder}
    learner = get_context("fork").Process(target=killed_after, args=(5, scan(source, LABELS, **given)), kwargs=ONE_LIST)
    learner.start()
    learner.join()
    assert learner.exitcode == -signal.SIGKILL
    assert len(list(folder.iterdir())) == 1
    told = []
    learned = RelaxedPruningClassifier(**ONE_LIST, verbose=lambda rules, _: told.append(rules)).fit(
        scan(source, LABELS, **given)
    )
    assert dumps(learned.rule_list_) == expected
    assert told[0] == 6
    assert not list(folder.iterdir())
    with pytest.raises(CheckpointError, match="never mixed"):
        model(scan(source, LABELS, **given), max_rules=3)
    with pytest.raises(CheckpointError, match="another fit: the data changed"):
        model(scan([frame[:2000]], LABELS, **given))


def test_lists_that_aim_go_on_where_they_were_ended(frame: pd.DataFrame, tmp_path: Path):
    def ended(_: int, share: float) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    given, file = {"cv": 2, "max_rules": 6, "max_conditions": 2}, tmp_path / "rules.jsonl"
    with pytest.raises(KeyboardInterrupt):
        learner(**given, verbose=ended).fit(scan([frame[:900]], LABELS, checkpoint=file))
    lines = len(file.read_text().splitlines())
    found = model(scan([frame[:900]], LABELS, checkpoint=file), **given)
    assert found == model(read(frame[:900], LABELS), **given)
    assert 10 < lines < len(file.read_text().splitlines())


def test_exceptions_to_a_last_rule_are_the_same_in_parts():
    rng = np.random.default_rng(1)
    X = rng.random((400, 2))
    odd = (abs(X - 0.5) < 0.25).all(axis=1, keepdims=True)
    Y = (np.hstack([~odd, ~odd, odd]) & (rng.random((400, 3)) < 0.95)).astype(int)
    frame = pd.DataFrame(np.hstack([X, Y]), columns=["a", "b", *LABELS]).astype(dict.fromkeys(LABELS, int))
    parts = RuleListClassifier(cv=3, max_rules=6).fit(scan([frame[:150], frame[150:]], LABELS))
    *rules, default = parts.rule_list_
    assert not default.body
    assert any(not assignment.present for rule in rules for assignment in rule.head)
    assert dumps(parts.rule_list_) == dumps(RuleListClassifier(cv=3, max_rules=6).fit(read(frame, LABELS)).rule_list_)


# Less memory than data ---------------------------------------------------------------------------------------------

LITTLE_MEMORY = """
import resource, sys
import numpy as np
from plurule import RelaxedPruningClassifier, scan

X, Y = (np.load(f"{sys.argv[1]}/{name}.npy", mmap_mode="r") for name in "XY")
learner = RelaxedPruningClassifier(max_rules=2, max_conditions=2, max_bins=32)
few = scan((X[:5000], Y[:5000]), chunk=2000, folder=sys.argv[1])
expected = learner.fit(few).rule_list_  # threads and libraries have what they need from now on
used = next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmData"))
limit = used + X.nbytes // 6
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
print(len(learner.fit(scan((X, Y), chunk=20_000, folder=sys.argv[1])).rule_list_))
try:
    learner.fit(X, Y)
except MemoryError:
    print("too large for memory")
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="limits of memory are those of Linux")
def test_data_that_memory_has_no_room_for_are_learned_from(tmp_path: Path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600_000, 20))
    np.save(tmp_path / "X", X)
    np.save(tmp_path / "Y", (X[:, :2] > 0.5).astype(np.int8))
    done = subprocess.run(
        [sys.executable, "-c", LITTLE_MEMORY, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == ["2", "too large for memory"], done.stderr


# What is wrong with a part -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"a,l\n1,0\n\xff,1\n", "t.csv, line 3: byte 0xff is not UTF-8"),
        ("t.csv", "a,l\n1,0\n".encode("utf-16"), "t.csv: the file is UTF-16, expected UTF-8"),
        ("t.parquet", b"PAR1xxxxPAR1", "t.parquet: is not a Parquet file or is damaged"),
    ],
)
def test_a_damaged_file_is_named(name: str, content: bytes, message: str, tmp_path: Path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        model(scan(tmp_path / name, ["l"]))


def test_a_part_with_other_columns_is_named(frame: pd.DataFrame):
    with pytest.raises(DataError, match="part 1: other attributes than part 0: column 'c' is in one of them only"):
        model(scan([frame[:50], frame[50:].drop(columns="c")], LABELS))


def test_a_part_with_another_type_is_named(frame: pd.DataFrame):
    odd = frame[50:].assign(b="x")
    with pytest.raises(DataError, match="part 1: column 'b' is nominal, in part 0 it is numeric"):
        model(scan([frame[:50], odd], LABELS))


def test_a_part_with_other_label_values_is_named(frame: pd.DataFrame):
    with pytest.raises(DataError, match=r"part 1: .*two"):
        model(scan([frame[:50], frame[50:].assign(two=3)], LABELS))


def test_a_column_that_is_missing_in_one_part_is_what_the_others_say(frame: pd.DataFrame):
    whole = frame.copy()
    whole.loc[:99, "d"] = None
    assert model(scan([whole[:100], whole[100:]], LABELS)) == model(read(whole, LABELS))


def test_no_rows_no_files_and_compressed_files_are_said(frame: pd.DataFrame, tmp_path: Path):
    with pytest.raises(DataError, match="holds no rows"):
        model(scan([frame[:0]], LABELS))
    with pytest.raises(DataError, match=r"there is no such file, nor files of such names"):
        model(scan(tmp_path / "*.csv", LABELS))
    (tmp_path / "a.csv.gz").write_bytes(b"")
    with pytest.raises(DataError, match="unpack it"):
        model(scan(tmp_path / "a.csv.gz", LABELS))


def test_a_folder_that_cannot_be_written_is_said_and_nothing_is_left_behind(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    class Full:
        """A file on a disk that has room for a few bytes."""

        def __init__(self, path: Path, mode: str):
            self.file = open(path, mode)  # noqa: SIM115  # closed below

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *error: object) -> None:
            self.file.close()

        def tell(self) -> int:
            return self.file.tell()

        def write(self, content: Any) -> None:
            self.file.write(bytes(content)[:9])
            if self.file.tell() > 9:
                raise OSError(28, "No space left on device")

    monkeypatch.setattr("plurule.distributed.storage.open", Full, raising=False)
    (tmp_path / "blocks").mkdir()
    with pytest.raises(PluruleError, match=r"could not be written \(No space left on device\)"):
        model(scan(files, LABELS, folder=tmp_path / "blocks"))
    assert not list((tmp_path / "blocks").iterdir())


def test_scan_refuses_an_iterator_which_can_be_read_only_once(frame: pd.DataFrame):
    with pytest.raises(DataError, match="an iterator can be read only once; give a list, or a function"):
        scan(iter([frame]), LABELS)


def test_scan_refuses_a_function_that_gives_fewer_parts_the_second_time(frame: pd.DataFrame):
    parts = iter([frame[:1000], frame[1000:]])
    with pytest.raises(DataError, match="the source has fewer parts than the 2 that were read first"):
        model(scan(lambda: parts, LABELS))


def test_scan_refuses_a_source_that_grows(frame: pd.DataFrame):
    parts = []

    def growing() -> list[pd.DataFrame]:
        parts.append(frame[:100])
        return parts

    with pytest.raises(DataError, match="the source has more parts than the 1 that were read first"):
        model(scan(growing, LABELS))


@pytest.mark.parametrize("changed", ["shorter", "number", "label"])
def test_scan_refuses_a_part_that_changes(changed: str, frame: pd.DataFrame):
    other = frame.copy()
    if changed == "shorter":
        other = other[:-1]
    else:
        column = "a" if changed == "number" else "one"
        other.loc[0, column] = 1 - other.loc[0, column]
    versions = itertools.chain([frame], itertools.repeat(other))
    with pytest.raises(DataError, match="part 0: has other rows than before; do not change the source"):
        model(scan(lambda: [next(versions)], LABELS))


def test_scan_refuses_a_csv_file_that_grows(frame: pd.DataFrame, tmp_path: Path):
    path = tmp_path / "t.csv"
    frame[["a", "b", *LABELS]].to_csv(path, index=False)
    data = scan(path, LABELS, chunk=20_000)
    assert len(data) == len(frame)
    with path.open("a") as file:
        file.write("1,2,0,0,1\n" * 20_000)
    with pytest.raises(DataError, match=r"more parts than the .* read first|has other rows than before"):
        model(data)


def test_scan_refuses_heuristics_that_judge_instances_as_a_whole(frame: pd.DataFrame):
    learner = RelaxedPruningClassifier(heuristic=SubsetAccuracy(), head_search="single")
    with pytest.raises(ParameterError, match="needs all rows in memory; for data in parts give another one"):
        learner.fit(scan([frame], LABELS))


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ({"cv": 2, "scoring": "roc_auc"}, "give a measure by name"),
    ],
)
def test_what_needs_all_rows_is_refused_with_what_to_give(given: dict[str, Any], advice: str, frame: pd.DataFrame):
    with pytest.raises(ParameterError, match=f"needs all rows in memory.*{advice}"):
        model(scan([frame], LABELS), **given)


def test_a_folder_that_is_not_there_is_said_to_be_missing(frame: pd.DataFrame, tmp_path: Path):
    with pytest.raises(PluruleError, match="nowhere: there is no such folder"):
        model(scan([frame], LABELS, folder=tmp_path / "nowhere"))


# Classes -----------------------------------------------------------------------------------------------------------


def of_classes(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, Any]:
    """Rows, and what they belong to; sorted, so that parts lack classes."""
    X = rng.normal(size=(300, 3)).round(2)
    number = np.sort(np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.7, 0.0, 0.8]), kind="stable")
    X = X[np.argsort(np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.7, 0.0, 0.8]), kind="stable")]
    return X, {
        "none or one": (number > 1).astype(int),
        "two": np.array(["ham", "spam"])[number // 2],
        "text": np.array(["ant", "bee", "cow", "dog"])[number],
        "numbers": number * 3.0,
        "named": pd.Series(np.array(["ant", "bee", "cow", "dog"])[number], name="animal"),
        "like an attribute": pd.Series(number, name="x1"),
        "one of them": np.full(300, "ant"),
    }[kind]


KINDS = ["none or one", "two", "text", "numbers", "named", "like an attribute", "one of them"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("given", [{"max_rules": None}, {"cv": 2, "max_rules": 6}], ids=str)
def test_a_column_of_classes_in_parts_that_lack_some_is_learned_as_in_memory(given: dict[str, Any], kind: str):
    X, y = of_classes(kind, np.random.default_rng(2))
    one = learner(**given).fit(X, y)
    other = learner(**given).fit(scan([(X[a:b], y[a:b]) for a, b in ((0, 50), (50, 50), (50, 180), (180, 300))]))
    assert dumps(other.rule_list_) == dumps(one.rule_list_)
    assert np.array_equal(other.predict(X), one.predict(X))
    assert np.array_equal(other.predict_proba(X), one.predict_proba(X))
    assert np.array_equal(other.classes_, one.classes_)


def test_a_column_of_numbers_of_which_a_part_has_only_zeros_is_no_other_label():
    X = np.arange(400.0)[:, None]
    data = scan((X, (X[:, 0] >= 250).astype(int)), chunk=100)
    assert str(RelaxedPruningClassifier(**ONE_LIST).fit(data).rule_list_) == "y ← x0 > 249.5   (TP 150, FP 0, stop)"


def test_parts_that_do_not_agree_on_classes_are_refused():
    X, y = of_classes("numbers", np.random.default_rng(1))
    with pytest.raises(DataError, match="y holds text in some parts and numbers in others"):
        model(scan([(X[:90], y[:90]), (X[90:], y[90:].astype(str))]))
    with pytest.raises(DataError, match="part 1: other labels than part 0"):
        model(scan([(X[:90], y[:90]), (X[90:], np.eye(2, dtype=int)[y[90:].astype(int) % 2])]))


def test_a_column_of_classes_among_others_is_refused_unless_its_classes_are_named(tmp_path: Path):
    classes = pd.DataFrame({"a": [1.0, 2.0, 3.0], "kind": ["x", "y", "z"]})
    classes.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(DataError, match="a column of classes needs all rows in memory; give X and y apart"):
        model(scan(tmp_path / "a.csv", ["kind"]))
    named = [f"kind: {one}" for one in "xyz"]
    apart = Constraints(exclusive_labels=[named])
    found = RelaxedPruningClassifier(**ONE_LIST, constraints=apart).fit(scan(tmp_path / "a.csv", named, chunk=5))
    expected = RelaxedPruningClassifier(**ONE_LIST).fit(read(tmp_path / "a.csv", ["kind"]))
    assert dumps(found.rule_list_) == dumps(expected.rule_list_)
