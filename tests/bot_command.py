"""`judge-bot` in the test's process: as a shell would run it, without the second that a new process
takes.

It runs in its own thread, because a command has its own event loop, while the test's loop serves
Slack and the model. Environment, folder and output belong to the whole process, so commands take
turns.
"""

import asyncio
import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import structlog
from typer.testing import CliRunner

from bot.cli import main as judge_bot
from judge.cli import main as judge

_TURN = threading.Lock()


async def run(
    program: str, arguments: tuple[str, ...], env: dict[str, str], folder: Path
) -> tuple[int, str, str]:
    """Exit code, output and errors of `judge-bot` or `judge`, run in a folder with only this
    environment.
    """
    main = {"judge-bot": judge_bot, "judge": judge}[program]
    return await asyncio.to_thread(_run, main, [program, *arguments], env, folder)


def _run(
    main: Callable[[], None], argv: list[str], env: dict[str, str], folder: Path
) -> tuple[int, str, str]:
    with _TURN, _own_settings(env, folder), patch.object(sys, "argv", argv):
        code = 0
        with CliRunner().isolation() as (out, err, _):
            try:
                main()
            except SystemExit as exc:
                code = int(exc.code or 0)
            except BaseException:  # noqa: BLE001 - a process would end with a traceback too
                code = 1
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            return code, out.getvalue().decode(), err.getvalue().decode()


@contextmanager
def _own_settings(env: dict[str, str], folder: Path) -> Iterator[None]:
    """Sets environment, folder and logging as for a new process, and restores them afterwards."""
    before = structlog.get_config()
    root = logging.getLogger()
    here = Path.cwd()
    handlers = root.handlers[:]
    level = root.level
    # A logger that caches its output would keep it, and later tests could not read what it logs.
    configure = partial(_configure, structlog.configure)
    with patch.dict(os.environ, env, clear=True), patch.object(structlog, "configure", configure):
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)
            structlog.configure(**before)
            root.handlers[:] = handlers
            root.level = level


def _configure(configure: Callable[..., None], **settings: Any) -> None:
    configure(**settings | {"cache_logger_on_first_use": False})
