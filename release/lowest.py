"""Print the lowest version of every dependency that pyproject.toml declares, as constraints for pip."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Print one `name==version` per line."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for requirement in project["dependencies"]:
        name, version = re.fullmatch(r"([\w-]+)>=([\w.]+)", requirement).groups()
        # 1.26 means any 1.26.x: the first of them may not have been released for this Python.
        print(f"{name}=={version}.*" if version.count(".") < 2 else f"{name}=={version}")


if __name__ == "__main__":
    main()
