"""What may be shown of an answer to anybody: names of its fields and their types, no contents."""

import re
from collections.abc import Iterator, Mapping

Fields = Mapping[str, set[str]]
"""The types of each field of an answer, by the field's path."""

# A name that is anything else could be an id or somebody's words.
_KEY = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_ID = re.compile(r"[A-Z][A-Z0-9]{7,13}")
_TIMESTAMP = re.compile(r"\d{9,11}\.\d{1,6}")
_CODE = re.compile(r"[a-z][a-z0-9_]{0,59}")
# A window's values are keyed by ids of blocks and then of elements, some of which Slack makes at
# random.
_KEYED_BY_IDS = ("values", "values.*")


def to_code(error: object) -> str:
    """An error of Slack's as a report shows it; anything but a code could be somebody's words."""
    return str(error) if _CODE.fullmatch(str(error)) else "another error"


def to_fields(answer: object) -> Fields:
    """The types of all fields of an answer."""
    fields: dict[str, set[str]] = {}
    for path, kind in _walk(answer, ""):
        if path:
            fields.setdefault(path, set()).add(kind)
    return fields


def _walk(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        yield path, "object"
        for key, entry in value.items():
            is_shown = _KEY.fullmatch(str(key)) and not path.endswith(_KEYED_BY_IDS)
            name = key if is_shown else "*"
            yield from _walk(entry, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        yield path, "list"
        for entry in value:
            yield from _walk(entry, f"{path}[]")
    else:
        yield path, _kind(value)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if not isinstance(value, str):
        return "number"
    if _ID.fullmatch(value):
        return "id"
    if _TIMESTAMP.fullmatch(value):
        return "timestamp"
    return "address" if "://" in value else "string"


def differences(fields: Fields, expected: Fields) -> Iterator[str]:
    """What is missing, what is more, and what has another type than expected."""
    # Of a field that only one of both has, the fields in it are not named too.
    named: tuple[str, ...] = ()
    for path in sorted({*fields, *expected}):
        kinds = " or ".join(sorted(fields.get(path, ())))
        expected_kinds = " or ".join(sorted(expected.get(path, ())))
        if kinds == expected_kinds or path.startswith(named):
            continue
        named += (f"{path}.", f"{path}[")
        if not kinds:
            yield f"{path}: missing: {expected_kinds}"
        elif not expected_kinds:
            yield f"{path}: more: {kinds}"
        else:
            yield f"{path}: {kinds}, expected {expected_kinds}"
