"""Blocks that are kept for the next time."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from helpers.scans import LABELS, model
from plurule import DataError, read, scan
from plurule.errors import PluruleError


def unread(*_: Any) -> None:
    raise AssertionError("a file is read")


def test_a_kept_cache_is_read_instead_of_the_files(
    files: Path, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    cache = tmp_path / "cache"
    assert model(scan(files, LABELS, cache=cache)) == expected
    with monkeypatch.context() as patch:
        patch.setattr("plurule.distributed.scan.read_parquet", unread)
        assert model(scan(files, LABELS, cache=cache)) == expected
        with ProcessPoolExecutor(1, mp_context=get_context("forkserver")) as executor:
            assert model(scan(files, LABELS, cache=cache, executor=executor)) == expected
        with pytest.raises(AssertionError, match="a file is read"):
            model(scan(files, LABELS, cache=cache), max_bins=3)
    assert model(scan(files, LABELS, cache=cache), max_bins=3) == model(scan(files, LABELS), max_bins=3)


@pytest.mark.parametrize("cv", [pytest.param(2, marks=pytest.mark.long), 3])
def test_what_is_chosen_with_a_kept_cache_is_what_is_chosen_without(cv: int, files: Path, tmp_path: Path):
    given = {"heuristic": "auto", "n_rules": 5, "cv": cv, "max_conditions": 2}
    expected = model(scan(files, LABELS), **given)
    assert [model(scan(files, LABELS, cache=tmp_path / "cache"), **given) for _ in range(2)] == [expected] * 2


def test_a_cache_of_files_that_changed_or_of_another_version_is_made_anew(
    files: Path, frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    cache = tmp_path / "cache"
    model(scan(files, LABELS, cache=cache))
    (old,) = cache.glob("blocks-*")
    changed = frame[1700:].assign(a=-frame["a"])
    changed.to_parquet(files.parent / "b.parquet", index=False)
    expected = model(read(pd.concat([frame[:1700], changed]), LABELS))
    assert model(scan(files, LABELS, cache=cache)) == expected
    (new,) = cache.glob("blocks-*")
    assert new != old
    monkeypatch.setattr("plurule.selection.code.code_fingerprint", lambda: "0123456789ab")
    (new / "block-000000").write_bytes(b"of another version")
    assert model(scan(files, LABELS, cache=cache)) == expected


def test_a_cache_that_was_left_unfinished_is_made_anew(files: Path, expected: str, tmp_path: Path):
    cache = tmp_path / "cache"
    model(scan(files, LABELS, cache=cache))
    (made,) = cache.glob("blocks-*")
    made.rename(made.with_suffix(".part"))
    assert model(scan(files, LABELS, cache=cache)) == expected
    assert [path.suffix for path in cache.glob("blocks-*")] == [""]


def test_a_cache_of_which_anything_is_damaged_or_gone_is_made_anew(files: Path, tmp_path: Path):
    cache = tmp_path / "cache"
    expected = model(scan(files, LABELS), n_rules=2)
    assert model(scan(files, LABELS, cache=cache), n_rules=2) == expected
    kept = sorted(path.relative_to(cache) for path in cache.rglob("*") if path.is_file())
    kept.remove(Path("plurule-cache.json"))
    for number, name in enumerate(kept):
        content = (cache / name).read_bytes()
        # What learning changes is at the end of a block.
        place = 0 if name.match("block-*") else len(content) - 1
        flipped = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        damaged = (None, b"", content[: len(content) // 2], flipped)[number % 4]
        if damaged is None:
            (cache / name).unlink()
        else:
            (cache / name).write_bytes(damaged)
        assert model(scan(files, LABELS, cache=cache), n_rules=2) == expected, name


def test_no_folder_of_others_is_taken_for_a_cache(files: Path, frame: pd.DataFrame, tmp_path: Path):
    with pytest.raises(PluruleError, match="data: holds other files; give a new folder"):
        model(scan(files, LABELS, cache=files.parent))
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    with pytest.raises(PluruleError, match="others may write to this folder"):
        model(scan(files, LABELS, cache=open_to_all))
    with pytest.raises(DataError, match="a cache is for files"):
        model(scan([frame], LABELS, cache=tmp_path / "cache"))

    def meanwhile(*_: Any) -> None:
        with pytest.raises(PluruleError, match="another run is at work there"):
            model(scan(files, LABELS, cache=tmp_path / "cache"))

    model(scan(files, LABELS, cache=tmp_path / "cache"), n_rules=1, verbose=meanwhile)
