"""`plurule data` and `plurule convert`, and what the command line says when something is wrong."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from helpers.commands import Run
from plurule.cli import app, terminal
from plurule.errors import DataError

CSV = "area,sea,red,blue\n1.5,no,1,0\n2.5,yes,0,0\n,yes,1,0\n2.5,yes,0,0\n"


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("PLURULE_DATA", raising=False)


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    (tmp_path / "toys.csv").write_text(CSV)
    return tmp_path / "toys.csv"


def test_a_data_set_is_described(run: Run, csv: Path) -> None:
    code, out, _ = run("data", "describe", csv, "--labels", "last:2")
    assert code == 0
    lines = {line[:24].strip(): line[24:].strip() for line in out.splitlines()}
    assert lines["rows"] == "4"
    assert lines["attributes"] == "2 (1 numeric, 1 nominal)"
    assert lines["labels per row"] == "0.500 (cardinality), 0.2500 of all (density)"
    assert lines["distinct label sets"] == "2"
    assert lines["missing values"] == "12.50%"
    assert lines["duplicate rows"] == "1"
    assert lines["labels never positive"] == "1: blue"


def test_a_description_can_be_json(run: Run, csv: Path) -> None:
    code, out, _ = run("data", "describe", csv, "--labels", "red,blue", "--json")
    about = json.loads(out)
    assert code == 0
    assert about["positives"] == {"red": 2, "blue": 0}
    assert about["never_positive"] == ["blue"]


def test_labels_that_go_together_are_drawn_dark(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,l,m,n\n" + "1,1,1,0\n" * 5 + "1,1,0,1\n")
    _, out, _ = run("data", "describe", tmp_path / "t.csv", "--labels", "last:3")
    rows = [line for line in out.splitlines() if line[:4] in ("1 l ", "2 m ", "3 n ")]
    assert rows == ["1 l ── ██ ··    6", "2 m ██ ──       5", "3 n ██    ──    1"]


def test_files_are_converted_with_a_word_on_what_is_lost(run: Run, csv: Path, tmp_path: Path) -> None:
    code, out, _ = run("convert", csv, tmp_path / "toys.arff", "--labels", "red,blue", "--drop", "area")
    assert code == 0
    assert out.splitlines() == ["toys.arff: the labels are named in toys.xml", f"Written to {tmp_path / 'toys.arff'}"]
    code, out, _ = run("convert", tmp_path / "toys.arff", tmp_path / "again.tsv")
    assert (tmp_path / "again.tsv").read_text().splitlines()[:2] == ["sea\tred\tblue", "no\t1\t0"]
    code, out, _ = run("convert", tmp_path / "toys.arff", tmp_path / "meka.arff", "--meka")
    assert (tmp_path / "meka.arff").read_text().startswith("@relation 'toys: -C 2'")
    code, out, _ = run("convert", "world-flags", tmp_path / "flags.csv")
    assert code == 0
    assert len((tmp_path / "flags.csv").read_text().splitlines()) > 190


def test_known_data_sets_are_listed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, out, _ = run("data", "list")
    emotions = next(line for line in out.splitlines() if line.startswith("emotions"))
    assert "593" in emotions
    assert "plurule data fetch emotions" in emotions
    (tmp_path / "mine" / "toys").mkdir(parents=True)
    (tmp_path / "mine" / "toys" / "toys.csv").write_text(CSV)
    monkeypatch.setenv("PLURULE_DATA", str(tmp_path / "mine"))
    _, out, _ = run("data", "list", "--json")
    assert {"toys", "emotions"} <= {entry["name"] for entry in json.loads(out)}
    _, out, _ = run("data", "info", "toys")
    assert str(tmp_path / "mine" / "toys") in out
    _, out, _ = run("data", "fetch", "toys")
    assert out.strip() == f"toys: {tmp_path / 'mine' / 'toys'}"
    _, out, _ = run("data", "info", "birds")
    assert "645 rows, 260 attributes, 19 labels, 1.014 labels per row" in out


def test_a_mistake_is_one_red_line_and_exit_code_2(run: Run, csv: Path) -> None:
    csv.write_text(CSV + "1,2,3\n")
    code, out, err = run("data", "describe", csv, "--labels", "last:2")
    assert (code, out, err) == (2, "", "Error: toys.csv, line 6: 3 values, 4 columns named\n")
    code, _, err = run("data", "info", "brids")
    assert (code, err) == (2, "Error: no data set is called 'brids'; did you mean 'birds'?\n")
    code, _, err = run("data", "nonsense")
    assert code == 2


def test_debug_shows_where_an_error_comes_from(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        terminal.run(app, ["data", "describe", str(tmp_path / "none.csv"), "--debug"])


def test_warnings_are_one_line_each(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.arff").write_text("@relation t\n@attribute s string\n@attribute l {0,1}\n@data\nx,1\n")
    code, _, err = run("data", "describe", tmp_path / "t.arff", "--labels", "l")
    assert code == 0
    assert err == "Note: t.arff: 1 string attribute dropped (text='keep' keeps them): 's'\n"


def test_many_labels_need_little_memory(run: Run, tmp_path: Path) -> None:
    names = [f"l{i}" for i in range(30_000)]
    lines = ["@relation t", "@attribute a numeric", *(f"@attribute {name} {{0,1}}" for name in names), "@data"]
    lines += [f"{{0 {i},{i + 1} 1,{i + 2} 1}}" for i in range(20)]
    (tmp_path / "wide.arff").write_text("\n".join(lines))
    tracemalloc.start()
    result = run("data", "describe", tmp_path / "wide.arff", "--labels", "last:30000")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.code == 0, result.err
    assert "5 rarer labels left out" in result.out
    # All pairs of labels, as numbers of eight bytes, would be 7 GB.
    assert peak < 500e6
