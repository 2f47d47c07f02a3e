"""Sources that are scanned give the model that they would give in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from helpers.datasets import write_arff
from helpers.scans import LABELS, learner, model
from plurule import DataError, ParameterError, RelaxedPruningClassifier, RuleListClassifier, read, scan
from plurule.data import Dataset
from plurule.datasets import load_world_flags
from plurule.model.file import dumps

SMALL = scan((np.arange(8.0)[:, None], np.eye(8, 2, dtype=int)))


# Formats -------------------------------------------------------------------------------------------------------------


def test_scan_of_parquet_files_reads_groups_of_rows(frame: pd.DataFrame, expected: str, tmp_path: Path) -> None:
    frame[:500].to_parquet(tmp_path / "a.parquet", row_group_size=150, index=False)
    frame[500:500].to_parquet(tmp_path / "b.parquet", index=False)
    frame[500:].to_parquet(tmp_path / "c.parquet", index=False)
    data = scan(tmp_path / "*.parquet", LABELS)
    assert len(data.columns.contents) == 6
    assert model(data) == expected


def test_scan_of_a_list_of_files_reads_them_in_that_order(frame: pd.DataFrame, files: Path, expected: str) -> None:
    paths = [files.parent / name for name in ("a.parquet", "b.parquet")]
    assert model(scan(paths, LABELS)) == expected


@pytest.mark.parametrize("chunk", [1000, 20_000, None])
def test_scan_of_csv_splits_no_row_though_fields_hold_line_breaks(
    chunk: int | None, frame: pd.DataFrame, tmp_path: Path
) -> None:
    frame[: chunk and chunk // 4].to_csv(tmp_path / "a.csv", index=False)
    assert model(scan(tmp_path / "a.csv", LABELS, chunk=chunk)) == model(read(tmp_path / "a.csv", LABELS))


def test_scan_of_csv_reads_a_header_with_line_breaks(tmp_path: Path) -> None:
    lines = [f"{number},{int(number > 20)}" for number in range(40)]
    (tmp_path / "a.csv").write_text('"a\nb",l\n' + "\n".join(lines))
    data = scan(tmp_path / "a.csv", ["l"], chunk=60)
    assert [attribute.name for attribute in data.attributes] == ["a\nb"]
    assert len(data.columns.contents) > 2
    assert len(data) == 40


def test_scan_of_arff_reads_lines_after_the_header(tmp_path: Path) -> None:
    write_arff(load_world_flags(), tmp_path / "flags.arff")
    assert model(scan(tmp_path / "flags.arff", chunk=5000)) == model(read(tmp_path / "flags.arff"))


def test_scan_of_arrays_that_are_mapped_to_memory(frame: pd.DataFrame, tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", frame[["a", "b", "c"]].to_numpy(float))
    np.save(tmp_path / "Y.npy", frame[LABELS].to_numpy())
    X, Y = (np.load(tmp_path / name, mmap_mode="r") for name in ("X.npy", "Y.npy"))
    found, expected = learner().fit(scan((X, Y), chunk=700)), learner().fit(X, Y)
    assert dumps(found.rule_list_) == dumps(expected.rule_list_)
    assert np.array_equal(found.predict(X), expected.predict(X))


def test_scan_of_narrow_numbers_gives_the_model_of_narrow_numbers(frame: pd.DataFrame) -> None:
    X, Y = frame[["a", "c"]].to_numpy(np.float32), frame[LABELS].to_numpy()
    assert model(scan((X, Y), chunk=700)) == dumps(learner().fit(X, Y).rule_list_)


def test_scan_of_a_function_reads_the_frames_that_it_gives(frame: pd.DataFrame, expected: str) -> None:
    def frames() -> Iterator[pd.DataFrame]:
        for start in range(0, len(frame), 450):
            yield frame[start : start + 450]

    assert model(scan(frames, LABELS)) == expected


def test_scan_of_parts_with_and_without_weights_weighs_the_others_1() -> None:
    X, Y = np.arange(40.0)[:, None], (np.arange(40) > 12).astype(int)[:, None]
    data = scan([(X[:20], Y[:20]), (X[20:], Y[20:], np.full(20, 3.0))])
    assert data.columns.weights is not None
    assert data.columns.weights.tolist() == [1.0] * 20 + [3.0] * 20


def test_scan_knows_names_and_numbers_of_its_rows(frame: pd.DataFrame) -> None:
    data = scan([frame[:500], frame[500:]], LABELS)
    assert repr(data) == "Scan(1500 instances in 2 parts, 3 labels)"
    assert data.label_names == tuple(LABELS)
    assert [attribute.name for attribute in data.attributes] == list("abcd")


# Reading -------------------------------------------------------------------------------------------------------------


class Counted:
    """A source of frames that counts how often it is read."""

    def __init__(self, parts: list[Any]):
        self.parts = parts
        self.n_reads = 0

    def __call__(self) -> list[Any]:
        self.n_reads += 1
        return self.parts


@pytest.mark.parametrize(
    "given",
    [{}, {"max_grown_rows": 300}, {"cv": 2, "max_rules": 4}, {"cv": 2, "scoring": "roc_auc", "max_rules": 3}],
    ids=str,
)
def test_fit_reads_the_source_twice(given: dict[str, Any], frame: pd.DataFrame) -> None:
    source = Counted([frame[:200], frame[200:400]])
    learner(**given).fit(scan(source, LABELS))
    assert source.n_reads == 2


def test_fit_again_reads_the_source_once_more(frame: pd.DataFrame) -> None:
    source = Counted([frame[:200], frame[200:400]])
    data = scan(source, LABELS)
    assert model(data) == model(data)
    assert source.n_reads == 3


def test_scan_reads_nothing_before_it_is_needed(frame: pd.DataFrame) -> None:
    source = Counted([frame])
    scan(source, LABELS)
    assert source.n_reads == 0


def test_fit_refuses_a_wrong_parameter_after_one_read(frame: pd.DataFrame) -> None:
    source = Counted([frame])
    with pytest.raises(ParameterError, match="max_rules must be"):
        learner(max_rules=0).fit(scan(source, LABELS))
    assert source.n_reads == 1


# What is refused -----------------------------------------------------------------------------------------------------


def test_scan_refuses_an_iterator_which_can_be_read_only_once(frame: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="an iterator can be read only once; give a list, or a function"):
        scan(iter([frame]), LABELS)


def test_scan_refuses_a_checkpoint_with_a_sentence(frame: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"checkpoint is no longer there: .*leave it out, and fit again"):
        scan([frame], LABELS, checkpoint=tmp_path / "rules.jsonl")


def test_scan_refuses_labels_of_another_number_of_rows() -> None:
    with pytest.raises(DataError, match="X has 8 rows, Y has 7; give the labels of every row"):
        len(scan((np.zeros((8, 1)), np.zeros((7, 2), int))))


def test_scan_refuses_a_pattern_without_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no such file, nor files of such names"):
        len(scan(tmp_path / "*.csv", LABELS))


def test_scan_refuses_a_compressed_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(b"")
    with pytest.raises(DataError, match="unpack it"):
        len(scan(tmp_path / "a.csv.gz", LABELS))


def test_scan_refuses_a_source_without_parts() -> None:
    with pytest.raises(DataError, match="the source has no parts; there is nothing to learn from"):
        len(scan([], LABELS))


def test_fit_refuses_a_source_without_rows(frame: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="the source holds no rows"):
        model(scan([frame[:0]], LABELS))
    with pytest.raises(DataError, match="the source holds no rows"):
        RuleListClassifier().fit(scan((np.zeros((0, 2)), np.zeros((0, 2), int))))


def test_fit_refuses_a_folder_that_is_not_there(frame: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere: there is no such folder"):
        model(scan([frame], LABELS, folder=tmp_path / "nowhere"))


@pytest.mark.parametrize("kind", [RuleListClassifier, RelaxedPruningClassifier])
@pytest.mark.parametrize(
    "argument",
    [{"y": [0, 1]}, {"sample_weight": [1, 2]}, {"label_names": ["a"]}, {"feature_names": ["a"]}, {"groups": [1, 2]}],
    ids=str,
)
def test_fit_refuses_labels_names_and_weights_beside_those_of_the_data(kind: Any, argument: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="X has labels, names and weights of its own"):
        kind().fit(SMALL, **argument)


def test_fit_of_a_frame_with_columns_named_like_attributes_of_a_scan() -> None:
    frame = pd.DataFrame({"rows": np.arange(8.0), "columns": 1.0, "label": [0] * 4 + [1] * 4})
    assert RelaxedPruningClassifier(max_rules=2).fit(frame[["rows", "columns"]], frame["label"]).n_features_in_ == 2


# Damaged and different parts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"a,l\n1,0\n\xff,1\n", "t.csv, line 3: byte 0xff is not UTF-8"),
        ("t.csv", "a,l\n1,0\n".encode("utf-16"), "t.csv: the file is UTF-16, expected UTF-8"),
        ("t.parquet", b"PAR1xxxxPAR1", "t.parquet: is not a Parquet file or is damaged"),
    ],
)
def test_scan_names_a_damaged_file(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        model(scan(tmp_path / name, ["l"]))


def test_scan_names_a_part_with_other_columns(frame: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="part 1: other attributes than part 0: column 'c' is in one of them only"):
        model(scan([frame[:50], frame[50:].drop(columns="c")], LABELS))


def test_scan_names_a_part_with_columns_in_another_order(frame: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="part 1: other attributes than part 0: their order differs"):
        model(scan([frame[:50], frame[50:][["b", "a", "c", "d", *LABELS]]], LABELS))


def test_scan_names_a_part_with_another_type(frame: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="part 1: column 'b' is nominal, in part 0 it is numeric"):
        model(scan([frame[:50], frame[50:].assign(b="x")], LABELS))


def test_scan_names_a_part_with_other_label_values(frame: pd.DataFrame) -> None:
    with pytest.raises(DataError, match=r"part 1: .*two"):
        model(scan([frame[:50], frame[50:].assign(two=3)], LABELS))


def test_scan_takes_a_column_that_is_missing_in_one_part_from_the_others(frame: pd.DataFrame) -> None:
    whole = frame.copy()
    whole.loc[:99, "d"] = None
    assert model(scan([whole[:100], whole[100:]], LABELS)) == model(read(whole, LABELS))


def test_scan_takes_a_column_that_is_missing_in_all_parts_as_in_memory(frame: pd.DataFrame) -> None:
    whole = frame.assign(c=np.nan)
    assert model(scan([whole[:100], whole[100:]], LABELS)) == model(read(whole, LABELS))


def test_scan_unites_categories_that_parts_have_in_part(frame: pd.DataFrame, expected: str) -> None:
    kinds = [frame[frame["d"] == kind] for kind in frame["d"].unique()]
    assert model(scan(kinds, LABELS)) == model(read(pd.concat(kinds), LABELS))


# A source that changes -----------------------------------------------------------------------------------------------


def test_fit_refuses_fewer_parts_than_before(frame: pd.DataFrame) -> None:
    parts = iter([frame[:1000], frame[1000:]])
    with pytest.raises(DataError, match="the source has fewer parts than the 2 that were read first"):
        model(scan(lambda: parts, LABELS))


def test_fit_refuses_more_parts_than_before(frame: pd.DataFrame) -> None:
    parts = []

    def growing() -> list[pd.DataFrame]:
        parts.append(frame[:100])
        return parts

    with pytest.raises(DataError, match="the source has more parts than the 1 that were read first"):
        model(scan(growing, LABELS))


@pytest.mark.parametrize("changed", ["shorter", "number", "label", "type"])
def test_fit_refuses_a_part_that_changes(changed: str, frame: pd.DataFrame) -> None:
    other = frame.copy()
    if changed == "shorter":
        other = other[:-1]
    elif changed == "type":
        other["b"] = other["b"].astype(str)
    else:
        column = "a" if changed == "number" else "one"
        other.loc[0, column] = 1 - other.loc[0, column]
    versions = iter([frame, other])
    with pytest.raises(DataError, match="part 0: has other rows than before; do not change the source"):
        model(scan(lambda: [next(versions)], LABELS))


def test_fit_refuses_a_csv_file_that_grows(frame: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame[["a", "b", *LABELS]].to_csv(path, index=False)
    data = scan(path, LABELS, chunk=20_000)
    assert len(data) == len(frame)
    with path.open("a") as file:
        file.write("1,2,0,0,1\n" * 20_000)
    with pytest.raises(DataError, match=r"more parts than the .* read first|has other rows than before"):
        model(data)


def test_fit_refuses_a_file_that_disappears(files: Path) -> None:
    data = scan(files, LABELS)
    assert len(data) == 1500
    (files.parent / "b.parquet").unlink()
    with pytest.raises(DataError, match="the source has fewer parts than the 2 that were read first"):
        model(data)


# Threads and folders -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_fit_depends_neither_on_threads_nor_on_the_folder(
    n_jobs: int, frame: pd.DataFrame, expected: str, tmp_path: Path
) -> None:
    parts = [frame[:500], frame[500:]]
    assert model(scan(parts, LABELS, folder=tmp_path), n_jobs=n_jobs) == expected
    assert not list(tmp_path.iterdir())


def test_fit_stores_the_schema_that_the_data_have_in_memory(frame: pd.DataFrame) -> None:
    data = read(frame, LABELS)
    weights = np.random.default_rng(2).choice([0, 0.5, 1, 2.5], len(data))
    data = Dataset(data.X, data.Y, data.label_names, weights)
    given = {"predict_absence": True, "min_coverage": 20, "max_bins": 7}
    one = learner(**given).fit(data)
    other = learner(**given).fit(scan([data[:600], data[600:900], data[900:]]))
    assert dumps(one.rule_list_) == dumps(other.rule_list_)
    assert one.labels_without_rules_ == other.labels_without_rules_
    assert one.n_features_in_ == other.n_features_in_
    assert one.feature_names_in_.tolist() == other.feature_names_in_.tolist()
    assert one.label_names_.tolist() == other.label_names_.tolist()
