"""Line numbers in a TOML file, which Python's parser does not give."""

import re
from collections.abc import Iterator

Place = tuple[int | str, ...]
"""The path to something in the file, such as `("channels", 0, "messages", 2, "from")`."""

_HEADING = re.compile(r"\s*\[\[?\s*([\w.]+)\s*\]\]?")
_KEY = re.compile(r"\s*([\w-]+)\s*=")


def line_of(text: str, place: Place) -> int | None:
    """The line of a key, or of the nearest table around it that is in the file; None if there is
    none.
    """
    lines = {found: number for number, found in _places(text)}
    for length in range(len(place), 0, -1):
        if place[:length] in lines:
            return lines[place[:length]]
    return None


def _places(text: str) -> Iterator[tuple[int, Place]]:
    """The line and the path of every heading and every key."""
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
    """The path to the next entry under a heading such as `channels.messages`."""
    place: Place = ()
    for name in names[:-1]:
        place = (*place, name, counts.get((*place, name), 1) - 1)
    place = (*place, names[-1])
    counts[place] = counts.get(place, 0) + 1
    return (*place, counts[place] - 1)
