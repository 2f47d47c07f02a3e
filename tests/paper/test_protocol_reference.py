"""Tables of models that another program learned."""

from __future__ import annotations

from pathlib import Path

import pytest

from plurule.errors import DataError
from plurule.paper.protocol import Task, read_reference

HEADER = (
    "dataset,objective,signs,lift,rules,conditions,label_conditions,multi_label_heads,"
    "test_HA,test_micro_F1,test_macro_F1,test_subset_accuracy\n"
)
NUMBERS = "9,20,1,2,0.9,0.8,0.7,0.6\n"


def written(folder: Path, *rows: str) -> Path:
    path = folder / "models.csv"
    path.write_text(HEADER + "".join(f"{row},{NUMBERS}" for row in rows), encoding="utf-8")
    return path


def test_rows_of_the_sets_and_objectives_at_hand_become_tasks(tmp_path: Path):
    rows = ("flags,HA,+-,lift1", "flags,MicF,+,peak 3: 1.1", "birds,MacF,+,kln at 3: 1.12", "flags,HA,+,off")
    found = read_reference(written(tmp_path, *rows), ["flags"], ["ha+-", "micro-f+", "macro-f+"])
    tasks = [Task("reference", "flags", "ha+-", "none"), Task("reference", "flags", "micro-f+", "peak 3: 1.10")]
    assert found.tasks("flags") == tasks
    assert found.tasks("birds") == []
    assert found.rows[0][1]["rules"] == 9
    assert found.rows[0][1]["subset_accuracy"] == 0.6


def test_other_tables_have_other_fingerprints(tmp_path: Path):
    one = read_reference(written(tmp_path, "flags,HA,+-,lift1"), ["flags"], ["ha+-"])
    two = read_reference(written(tmp_path, "flags,HA,+,lift1"), ["flags"], ["ha+-"])
    assert one.fingerprint != two.fingerprint


@pytest.mark.parametrize("row", ["flags,HA,+-,peek 3: 1.1", "flags,XY,+-,lift1", "flags,HA,+-,lift1,many"])
def test_what_is_not_understood_is_said_with_its_line(tmp_path: Path, row: str):
    with pytest.raises(DataError, match=r"models\.csv, line 3: is not understood"):
        read_reference(written(tmp_path, "flags,HA,+-,lift1", row), ["flags"], ["ha+-"])


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path):
    with pytest.raises(DataError, match="cannot be read"):
        read_reference(tmp_path / "nowhere.csv", ["flags"], ["ha+-"])
    (tmp_path / "other.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="is not UTF-8"):
        read_reference(tmp_path / "other.csv", ["flags"], ["ha+-"])
