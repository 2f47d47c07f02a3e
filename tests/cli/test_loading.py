"""Data and models that the commands load."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from helpers.commands import Run, assert_mistake
from helpers.rule_lists import make_rules
from plurule import RuleList
from plurule.cli.loading import parse_size


def test_missing_model_is_named(run: Run, tmp_path: Path) -> None:
    assert_mistake(run("show", tmp_path / "none.json"), "none.json", "no such file")


@pytest.mark.parametrize(
    "command",
    [
        ("report", "no.json", "-o", "r.html"),
        ("export", "no.json", "--to", "sql"),
        ("diff", "no.json", "no.json"),
        ("edit", "no.json", "--remove", "1"),
    ],
)
@pytest.mark.usefixtures("model_folder")
def test_every_command_names_a_missing_model(run: Run, command: tuple[str, ...]) -> None:
    assert_mistake(run(*command), "no.json: there is no such file")


def test_file_that_is_no_model_is_refused(run: Run, data: Path) -> None:
    assert_mistake(run("show", data), "data.csv")


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_missing_column_is_named(run: Run, model: Path, tmp_path: Path, command: str) -> None:
    path = tmp_path / "missing.csv"
    path.write_text("kind,red,blue\na,1,0\n", encoding="utf-8")
    assert_mistake(run(command, model, path), "'size'")


def test_missing_label_is_named(run: Run, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "unlabelled.csv"
    path.write_text("size,kind\n1,a\n", encoding="utf-8")
    assert_mistake(run("evaluate", model, path), "red")


@pytest.fixture(scope="module")
def decimal_comma(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data with decimal commas and an ID column."""
    path = tmp_path_factory.mktemp("comma") / "data.csv"
    lines = [f"r{i};{i},5;{int(i > 12)};{int(i % 8 > 3)}" for i in range(24)]
    path.write_text("\n".join(["id;size;red;blue", *lines]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def decimal_comma_model(decimal_comma: Path) -> Path:
    path = decimal_comma.parent / "model.json"
    make_rules("red <- size > 13", {"size": None}, ("red", "blue")).save(path)
    return path


@pytest.mark.parametrize(
    "command",
    [
        "fit DATA --labels red,blue --drop id",
        "evaluate DATA --labels red,blue --drop id --folds 2",
        "discover DATA --labels red,blue --drop id --resamples 0",
        "evaluate MODEL DATA",
        "report MODEL --data DATA -o report.html",
        "show MODEL --data DATA",
        "show MODEL --dependencies --data DATA",
        "diff MODEL MODEL --data DATA",
        "explain MODEL DATA",
        "edit MODEL --simplify --data DATA",
        "edit MODEL --add blue<-size>20 --data DATA",
    ],
)
def test_every_command_reads_decimal_commas(
    run: Run,
    command: str,
    decimal_comma: Path,
    decimal_comma_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    words = {"DATA": decimal_comma, "MODEL": decimal_comma_model}
    result = run(*(words.get(word, word) for word in command.split()), "--decimal", ",")
    assert result.code == 0, result.err
    assert "nominal" not in result.err


@pytest.mark.parametrize(
    "command",
    [
        "show MODEL",
        "predict MODEL DATA",
        "explain MODEL DATA",
        "explain MODEL DATA --as html",
        "report MODEL -o report.html",
        "export MODEL --to python",
        "export MODEL --to markdown",
        "export MODEL --to latex",
        "export MODEL --to text",
        "edit MODEL --lock 1 -o saved.json",
    ],
)
def test_names_with_half_characters_are_accepted(
    run: Run, command: str, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = tmp_path / "model.json"
    make_rules('"\ud800" <- size > 3', {"size": None}, ("\ud800", "blue")).save(model)
    result = run(*({"DATA": data, "MODEL": model}.get(word, word) for word in command.split()))
    assert result.code == 0, result.err
    if Path("saved.json").exists():
        assert RuleList.load("saved.json").labels == ("\ud800", "blue")


def test_names_with_half_characters_are_refused_in_sql(run: Run, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    make_rules('"\ud800" <- size > 3', {"size": None}, ("\ud800", "blue")).save(model)
    assert_mistake(run("export", model, "--to", "sql"), "half of a character")


def test_string_attribute_of_an_arff_file_is_dropped_with_one_note(run: Run, tmp_path: Path) -> None:
    rows = "".join(f"x,{i},{i % 2}\n" for i in range(30))
    (tmp_path / "t.arff").write_text(
        f"@relation t\n@attribute s string\n@attribute a numeric\n@attribute l {{0,1}}\n@data\n{rows}"
    )
    result = run("fit", tmp_path / "t.arff", "--labels", "l")
    assert result.code == 0
    assert result.err.count("Note: t.arff: 1 string attribute dropped") == 1


def test_parse_size_reads_units() -> None:
    assert [parse_size(size) for size in ("1.5 GB", "500MB", "7 b")] == [1_500_000_000, 500_000_000, 7]


def test_data_are_read_from_standard_input(run: Run, model: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from_file = run("predict", model, data)
    for name in ("-", "/dev/stdin"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data.read_bytes())))
        assert run("predict", model, name) == from_file


@pytest.fixture
def tickets(tmp_path: Path) -> Path:
    """Rows with an ID, several labels in one column, and an attribute that decides one of them."""
    tags = ["billing;refund", "billing", "refund; closed", "open", "closed", "billing;refund;closed"]
    rows = [f"T{i},{'yes' if 'billing' in tags[i % 6] else 'perhaps'},{i % 7},{tags[i % 6]}" for i in range(60)]
    path = tmp_path / "tickets.csv"
    path.write_text("\n".join(["ticket,paid,size,tags", *rows]), encoding="utf-8")
    return path


SEPARATED = ("--labels", "tags", "--label-separator", ";")


def test_labels_of_one_column_are_separated(run: Run, tickets: Path, tmp_path: Path) -> None:
    result = run("fit", tickets, *SEPARATED, "-o", tmp_path / "model.json")
    assert result.code == 0
    assert RuleList.load(tmp_path / "model.json").labels == ("billing", "closed", "open", "refund")
    assert "paid alone decides billing in all rows" in result.out
    assert "left out, since nearly every row has its own value: 'ticket'" in result.err
    assert "60 instances, 4 labels" in run("evaluate", tmp_path / "model.json", tickets).out
    assert "60 instances, 2 folds, 4 labels" in run("evaluate", tickets, *SEPARATED, "--folds", 2).out


def test_a_row_without_labels_is_one_of_separated_labels(run: Run, tickets: Path, tmp_path: Path) -> None:
    tickets.write_text(tickets.read_text(encoding="utf-8").replace(",open", ","), encoding="utf-8")
    run("fit", tickets, *SEPARATED, "-o", tmp_path / "model.json")
    assert RuleList.load(tmp_path / "model.json").labels == ("billing", "closed", "refund")


def test_a_separator_of_labels_is_suggested(run: Run, tickets: Path) -> None:
    result = run("fit", tickets, "--labels", "tags")
    assert "'tags' seems to hold several labels in a row" in result.err
    assert "--label-separator ';'" in result.err


def test_a_column_of_ids_is_kept_if_wanted(run: Run, tickets: Path, tmp_path: Path) -> None:
    command = ("fit", tickets, *SEPARATED, "-o", tmp_path / "model.json")
    run(*command)
    assert [a.name for a in RuleList.load(tmp_path / "model.json").attributes] == ["paid", "size"]
    assert "left out" not in run(*command, "--keep", "ticket").err
    assert [a.name for a in RuleList.load(tmp_path / "model.json").attributes] == ["ticket", "paid", "size"]
    assert_mistake(run(*command, "--keep", "tickets"), "there is no column 'tickets'")
