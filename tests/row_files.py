"""Files of rows, as the commands of `judge` read and write them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write(path: Path, *rows: Mapping[str, Any] | str | bytes) -> Path:
    """Writes each row on a line of its own: as JSON, or as it is."""
    lines = [row if isinstance(row, str | bytes) else json.dumps(row) for row in rows]
    path.write_bytes(
        b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines)
    )
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
