"""Edit scripts: a list of edits as JSON, which a report saves and `plurule edit --script` applies.

A script names the rules it was made for by a digest of their text, so that it is not applied to others:
`{"rules": "0f3a…", "edits": [{"do": "remove", "numbers": [3]}, {"do": "add", "rule": "red <- blue", "at": 1}]}`.
"""

from __future__ import annotations

import json
from typing import Any

from plurule.errors import ModelError, nearest
from plurule.files import digest
from plurule.inspection.edit import Edit
from plurule.model import RuleList
from plurule.model.text import RuleTextError, write_rules

MEMBERS: dict[str, dict[str, Any]] = {
    "add": {"rule": str, "at": int},
    "remove": {"numbers": list},
    "replace": {"number": int, "rule": str},
    "move": {"number": int, "to": int},
    "lock": {"numbers": list},
    "unlock": {"numbers": list},
}
"""Edits and the types of their members; each is a method of `Edit`."""


def rules_digest(rule_list: RuleList) -> str:
    """Return a short text that differs if the rules do, whatever their counts."""
    return digest(write_rules(rule_list))


def apply_script(edit: Edit, text: str, source: str = "the edit script") -> Edit:
    """Return a rule list under edit after the edits of a script; `source` is named in errors.

    >>> rules = RuleList.from_text("red <- stripes > 2", ["stripes"], ["red"])
    >>> script = {"rules": rules_digest(rules), "edits": [{"do": "lock", "numbers": [1]}]}
    >>> print(apply_script(rules.edit(), json.dumps(script)).rule_list)
    red ← stripes > 2   (TP 0, FP 0, locked)
    """
    try:
        script = json.loads(text)
    except ValueError as error:
        raise ModelError(f"{source}: is no JSON ({error}); save the edits in a report again") from None
    edits = script.get("edits") if isinstance(script, dict) else None
    if not isinstance(edits, list):
        raise ModelError(f"{source}: expected an object with a list of edits; save the edits in a report again")
    if script.get("rules") != rules_digest(edit.original):
        raise ModelError(f"{source}: was made for other rules than those of this model; make a new report of the model")
    for number, step in enumerate(edits, start=1):
        place = f"{source}, edit {number}"
        arguments = _arguments(step, place)
        numbers = arguments.pop("numbers", [])
        try:
            edit = getattr(edit, step["do"])(*numbers, **arguments)
        except RuleTextError as error:
            raise error.within(place) from None
        except ModelError as error:
            raise ModelError(f"{place}: {error}") from None
    return edit


def _arguments(step: Any, place: str) -> dict[str, Any]:
    """Return the members of an edit, each of the right type."""
    kind = step.get("do") if isinstance(step, dict) else None
    if not isinstance(kind, str) or kind not in MEMBERS:
        raise ModelError(f"{place}: there is no edit {kind!r}{nearest(str(kind), MEMBERS)}")
    arguments = {name: value for name, value in step.items() if name != "do"}
    for name, expected in MEMBERS[kind].items():
        value = arguments.get(name)
        items = value if isinstance(value, list) else []
        if type(value) is not expected or any(type(item) is not int for item in items):
            kinds = {str: "the text of a rule", int: "a number", list: "a list of numbers"}
            raise ModelError(f"{place}: expected {kinds[expected]} as {name!r}, found {value!r}")
    if set(arguments) - set(MEMBERS[kind]):
        raise ModelError(f"{place}: {kind} takes {', '.join(MEMBERS[kind])} only, found {', '.join(arguments)}")
    return arguments
