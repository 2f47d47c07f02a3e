"""Coverage-guided fuzzing of all that reads what strangers write: model files, rules as text, and data files.

`make fuzz MINUTES=10` gives every target, and every campaign of `semantics.py`, its share of the time and ends with the
cases tried and the failures found.
A failure is anything but a value or one of plurule's own errors, a case that takes more than 20 seconds or 2 GB, or a
model or rule that does not come back as it was written. What failed is kept in `build/fuzz`.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["plurule"]):
    from plurule.data import read
    from plurule.datasets import load_world_flags
    from plurule.errors import PluruleError
    from plurule.model import Attribute
    from plurule.model import file as model_file
    from plurule.model.text import parse_rules, write

ATTRIBUTES = Attribute("area"), Attribute("zone", ("NE", "NW", "two words"))
LABELS = ("red", "blue", "dark red")
FOLDER = Path("build/fuzz")


def model(data: bytes) -> None:
    """A model file is refused, or comes back as it was."""
    found = model_file.loads(data.decode("utf-8", "replace"))
    assert model_file.loads(model_file.dumps(found)) == found


def rules(data: bytes) -> None:
    """Rules as text are refused, or come back as they were."""
    found = parse_rules(data.decode("utf-8", "replace"), ATTRIBUTES, LABELS)
    assert parse_rules("\n".join(map(write, found)), ATTRIBUTES, LABELS) == found


def reader(suffix: str) -> Callable[[bytes], None]:
    """A data file is refused or read, with labels and without."""

    def try_reading(data: bytes) -> None:
        with tempfile.NamedTemporaryFile(suffix=suffix, dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as file:
            file.write(data)
            file.flush()
            found = read(file.name, labels=[] if len(data) % 2 else 1)
            assert len(found.X) == len(found.Y)

    return try_reading


def mulan(data: bytes) -> None:
    """The label names of a Mulan XML file are refused or read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.xml"
        path.write_bytes(data)
        (Path(folder) / "data.arff").write_text("@relation r\n@attribute red {0,1}\n@data\n1\n")
        read(Path(folder) / "data.arff")


TARGETS: dict[str, Callable[[bytes], None]] = {
    "model": model,
    "rules": rules,
    "csv": reader(".csv"),
    "arff": reader(".arff"),
    "parquet": reader(".parquet"),
    "gzip": reader(".csv.gz"),
    "mulan": mulan,
}


def seeds(folder: Path) -> None:
    """Something valid for every target to start from."""
    import gzip

    from helpers.datasets import write_arff, write_csv
    from plurule import RuleListClassifier

    flags = load_world_flags()[:12]
    rule_list = RuleListClassifier(max_rules=3).fit(flags).rule_list_
    (folder / "model" / "seed").write_text(model_file.dumps(rule_list), encoding="utf-8")
    text = "red, !blue <- area > 2.5 and zone = 'two words'\n# a comment\n'dark red' <- red and !blue [stop] [locked]\n"
    (folder / "rules" / "seed").write_text(text, encoding="utf-8")
    with tempfile.TemporaryDirectory() as place:
        (folder / "csv" / "seed").write_bytes(write_csv(flags, Path(place) / "flags.csv").read_bytes())
        (folder / "arff" / "seed").write_bytes(write_arff(flags, Path(place) / "flags.arff").read_bytes())
    flags.to_pandas()[0].to_parquet(folder / "parquet" / "seed")
    (folder / "arff" / "sparse").write_text(
        "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n{0 1.5,1 y}\n{}\n"
    )
    (folder / "gzip" / "seed").write_bytes(gzip.compress((folder / "csv" / "seed").read_bytes()))
    (folder / "mulan" / "seed").write_text(
        '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="red"/></labels>'
    )


def fuzz(name: str, arguments: list[str]) -> None:
    """One target, in this process, which ends with it."""
    warnings.simplefilter("ignore")

    def try_one(data: bytes) -> None:
        with contextlib.suppress(PluruleError):
            TARGETS[name](data)

    atheris.Setup([sys.argv[0], *arguments], try_one)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--target", choices=TARGETS)
    given, rest = parser.parse_known_args()
    if given.target and rest:
        fuzz(given.target, rest)
    failures = 0
    for name in TARGETS:
        (FOLDER / name).mkdir(parents=True, exist_ok=True)
    seeds(FOLDER)
    names = [given.target] if given.target else list(TARGETS)
    # Only what is imported first is instrumented.
    from semantics import CAMPAIGNS

    campaigns = [] if given.target else list(CAMPAIGNS)
    seconds = max(1, round(given.minutes * 60 / (len(names) + len(campaigns))))
    for name in names:
        limits = ["-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={FOLDER}/{name}-"]
        command = [
            sys.executable,
            __file__,
            "--target",
            name,
            str(FOLDER / name),
            f"-max_total_time={seconds}",
            *limits,
        ]
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace")
        tried = re.findall(r"stat::number_of_executed_units:\s*(\d+)", ended.stderr)
        failed = ended.returncode != 0
        failures += failed
        print(f"{name:8} {int(tried[-1]) if tried else 0:>9} cases, {int(failed)} failures", flush=True)
        if failed:
            print(ended.stderr[-2000:])
    for name in campaigns:
        command = [sys.executable, str(Path(__file__).with_name("semantics.py")), name, f"--seconds={seconds}"]
        failures += subprocess.run(command).returncode != 0
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
