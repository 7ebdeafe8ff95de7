"""Prints what CHANGELOG.md says of a version: `python tools/notes.py 0.1.0`.

A release refuses a version that is still called unreleased; a rehearsal does not.
"""

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).resolve().parent.parent / "CHANGELOG.md"


def notes(version: str, event: str, text: str) -> str:
    """The section of a version, without its heading.

    Raises:
        SystemExit: There is none, it is empty, or it is pushed as a release and has no date.
    """
    found = re.search(
        rf"^## {re.escape(version)} \((.+?)\)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE
    )
    if not found or not found[2].strip():
        raise SystemExit(
            f"notes: CHANGELOG.md has nothing under '## {version} (date)'; write what has changed"
        )
    if event == "push" and not re.fullmatch(r"\d{4}-\d\d-\d\d", found[1]):
        raise SystemExit(
            f"notes: CHANGELOG.md calls {version} {found[1]!r}; put the date there, such "
            "as (2026-11-26)"
        )
    return found[2].strip()


if __name__ == "__main__":
    print(notes(sys.argv[1], sys.argv[2], CHANGELOG.read_text(encoding="utf-8")))
