"""Where in a TOML file something stands. Python's reader knows what stands there, but not where."""

import re
from collections.abc import Iterator

Place = tuple[int | str, ...]
"""Where something stands in the file, such as `("channels", 0, "messages", 2, "from")`."""

_HEADING = re.compile(r"\s*\[\[?\s*([\w.]+)\s*\]\]?")
_KEY = re.compile(r"\s*([\w-]+)\s*=")


def line_of(text: str, place: Place) -> int | None:
    """The line of a key, or of the nearest heading above it that is in the file."""
    lines = {found: number for number, found in _places(text)}
    for length in range(len(place), 0, -1):
        if place[:length] in lines:
            return lines[place[:length]]
    return None


def _places(text: str) -> Iterator[tuple[int, Place]]:
    """Every heading and every key with its line."""
    counts: dict[Place, int] = {}
    table: Place = ()
    is_inside_text = False
    for number, line in enumerate(text.splitlines(), 1):
        starts_inside = is_inside_text
        is_inside_text ^= line.count('"""') % 2 == 1
        if starts_inside:
            continue
        if heading := _HEADING.match(line):
            table = _entered(heading[1].split("."), counts)
            yield number, table
        elif key := _KEY.match(line):
            yield number, (*table, key[1])


def _entered(names: list[str], counts: dict[Place, int]) -> Place:
    """The place of the next entry under a heading such as `channels.messages`."""
    place: Place = ()
    for name in names[:-1]:
        place = (*place, name, counts.get((*place, name), 1) - 1)
    place = (*place, names[-1])
    counts[place] = counts.get(place, 0) + 1
    return (*place, counts[place] - 1)
