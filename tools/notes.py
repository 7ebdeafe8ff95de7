"""Prints what a changelog says of a version: `python tools/notes.py CHANGELOG.md 0.1.0 push`.

A release refuses a version that is still called unreleased; a rehearsal does not.
"""

import re
import sys
from pathlib import Path


def notes(changelog: Path, version: str, event: str) -> str:
    """The section of a version, without its heading.

    Raises:
        SystemExit: There is none, it is empty, or it is pushed as a release and has no date.
    """
    section = re.search(
        rf"^## {re.escape(version)} \((.+?)\)\n(.*?)(?=^## |\Z)",
        changelog.read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    if not section or not section[2].strip():
        raise SystemExit(
            f"notes: {changelog} has nothing under '## {version} (date)'; write what has changed"
        )
    if event == "push" and not re.fullmatch(r"\d{4}-\d\d-\d\d", section[1]):
        raise SystemExit(
            f"notes: {changelog} calls {version} {section[1]!r}; put the date there, such "
            "as (2026-11-26)"
        )
    return section[2].strip()


if __name__ == "__main__":
    print(notes(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
