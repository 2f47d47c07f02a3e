"""The fingerprint of the code."""

from __future__ import annotations

from pathlib import Path

from plurule.selection.code import code_fingerprint, fingerprint_of


def test_the_fingerprint_changes_with_every_module_and_the_engine_and_with_nothing_else(tmp_path: Path):
    binary = tmp_path / "core.so"
    (tmp_path / "package" / "part").mkdir(parents=True)
    first, second = tmp_path / "package" / "a.py", tmp_path / "package" / "part" / "b.py"

    def now() -> str:
        return fingerprint_of(tmp_path / "package", binary)

    binary.write_bytes(b"\x7fELF")
    first.write_text("one = 1\n")
    second.write_text("two = 2\n")
    found = [now()]
    (tmp_path / "package" / "notes.txt").write_text("of no importance")
    assert now() == found[0]
    for change in (
        lambda: second.write_text("two = 3\n"),
        lambda: binary.write_bytes(b"\x7fELF2"),
        lambda: first.rename(first.with_name("c.py")),
        lambda: second.unlink(),
    ):
        change()
        found.append(now())
    assert len(set(found)) == 5


def test_the_installed_package_has_one():
    assert len(code_fingerprint()) == 12
