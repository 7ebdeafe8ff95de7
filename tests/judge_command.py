"""The `judge` command in the test's process: as a shell would run it, without the second that a new
process takes.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from unittest.mock import patch

from typer.testing import CliRunner

from judge.cli import main


class Done(NamedTuple):
    """The result of a command."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: object, given: str | bytes = "", **environment: str) -> Done:
    """Runs `judge` with `arguments`; its only settings are those in `environment`."""
    settings = {name: None for name in os.environ if name.startswith(("OPENAI_", "JUDGE_"))}
    # A colour or width setting in the tests' environment must not change the output.
    settings |= {"COLUMNS": None, "FORCE_COLOR": None}
    code = 0
    with (
        CliRunner().isolation(given, {**settings, **environment}) as (stdout, stderr, _),
        _called(arguments),
    ):
        try:
            main()
        except SystemExit as exc:
            code = int(exc.code or 0)
        sys.stdout.flush()
        sys.stderr.flush()
        return Done(code, stdout.getvalue().decode(), stderr.getvalue().decode())


@contextmanager
def _called(arguments: tuple[object, ...]) -> Iterator[None]:
    with patch.object(sys, "argv", ["judge", *map(str, arguments)]):
        yield
