"""Building blocks for checks of what Slack accepts. A check looks at one value and reports what is
wrong, and where.

The reports have Slack's own wording if it is known from published answers.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

Report = Callable[[str, str], None]
"""Takes a description of what is wrong and the JSON pointer to it."""

Check = Callable[[Any, str, Report], None]


class NoneOf(str):
    """A description of a value that is none of the `expected` ones."""

    expected: list[str]

    @classmethod
    def of(cls, text: str, expected: Iterable[str]) -> Self:
        """The description with these values."""
        made = cls(text)
        made.expected = list(expected)
        return made


def string(longest: int, shortest: int = 0) -> Check:
    """A string of `shortest` to `longest` characters."""

    def check(value: Any, pointer: str, report: Report) -> None:
        if not isinstance(value, str):
            report("must provide a string", pointer)
        elif len(value) > longest:
            report(f"must be less than {longest + 1} characters", pointer)
        elif len(value) < shortest:
            report(f"must be more than {shortest - 1} characters", pointer)

    return check


def https_url(value: Any, pointer: str, report: Report) -> None:
    """A URL that begins with `https://`."""
    string(3000, 1)(value, pointer, report)
    if isinstance(value, str) and not value.startswith("https://"):
        report("must be an HTTPS URL", pointer)


def boolean(value: Any, pointer: str, report: Report) -> None:
    """True or false."""
    if not isinstance(value, bool):
        report("must provide a boolean", pointer)


def number(value: Any, pointer: str, report: Report) -> None:
    """Any number; not a boolean, not a string."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        report("must provide a number", pointer)


def integer(lowest: int, highest: int) -> Check:
    """A whole number in a range."""

    def check(value: Any, pointer: str, report: Report) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            report("must provide an integer", pointer)
        elif not lowest <= value <= highest:
            report(f"must be between {lowest} and {highest}", pointer)

    return check


def choice(*allowed: str) -> Check:
    """One of a few words."""

    def check(value: Any, pointer: str, report: Report) -> None:
        if value not in allowed:
            report(NoneOf.of(f"must be a valid enum value: {', '.join(allowed)}", allowed), pointer)

    return check


def array(item: Check, longest: int, shortest: int = 0) -> Check:
    """A list of `shortest` to `longest` items."""

    def check(value: Any, pointer: str, report: Report) -> None:
        if not isinstance(value, list):
            report("must provide an array", pointer)
            return
        if len(value) > longest:
            report(f"no more than {longest} items allowed", pointer)
        if len(value) < shortest:
            report(f"no fewer than {shortest} items allowed", pointer)
        for index, one in enumerate(value):
            item(one, f"{pointer}/{index}", report)

    return check


def record(
    required: Mapping[str, Check] | None = None,
    optional: Mapping[str, Check] | None = None,
    either: tuple[str, ...] = (),
) -> Check:
    """An object with these fields and no others, and with at least one of the `either` fields."""
    needed = required or {}
    fields = {**(required or {}), **(optional or {})}

    def check(value: Any, pointer: str, report: Report) -> None:
        if not isinstance(value, dict):
            report("must provide an object", pointer)
            return
        for name in needed:
            if name not in value:
                report(f"missing required field: {name}", pointer)
        if either and not any(name in value for name in either):
            names = " or ".join(f"`{name}`" for name in either)
            report(f"must define either {names}", f"{pointer}/type")
        for name, one in value.items():
            if name in fields:
                fields[name](one, f"{pointer}/{name}", report)
            elif name != "type":
                report(f"invalid additional property: {name}", pointer)

    return check


def union(kinds: Mapping[str, Check]) -> Check:
    """An object whose `type` selects the check that it must pass."""

    def check(value: Any, pointer: str, report: Report) -> None:
        if not isinstance(value, dict):
            report("must provide an object", pointer)
        elif "type" not in value:
            report("missing required field: type", pointer)
        elif value["type"] not in kinds:
            report(NoneOf.of(f"unsupported type: {value['type']}", kinds), f"{pointer}/type")
        else:
            kinds[value["type"]](value, pointer, report)

    return check


def whole(check: Check) -> Check:
    """A check that also reports the object itself, before its details, as Slack does for text
    objects.
    """

    def checked(value: Any, pointer: str, report: Report) -> None:
        found: list[tuple[str, str]] = []
        check(value, pointer, lambda text, where: found.append((text, where)))
        if found:
            report("failed to match all allowed schemas", pointer)
        for text, where in found:
            report(text, where)

    return checked


def ruled(check: Check, *rules: tuple[str, str, Callable[[Any], Any]]) -> Check:
    """A check with rules between the fields of an object: the wording, the field and when the rule
    is broken.

    They are looked at once the fields are right by themselves. Their wording is ours.
    """

    def checked(value: Any, pointer: str, report: Report) -> None:
        found: list[tuple[str, str]] = []
        check(value, pointer, lambda text, where: found.append((text, where)))
        broken = (
            []
            if found
            else [
                (text, f"{pointer}/{name}") for text, name, is_broken in rules if is_broken(value)
            ]
        )
        for text, where in found or broken:
            report(text, where)

    return checked


def repeats(values: Iterable[Any]) -> bool:
    """Whether a value comes twice."""
    several = list(values)
    return len(set(several)) < len(several)


def anything(value: Any, pointer: str, report: Report) -> None:
    """Accepts any value."""
