"""`judge-bot` in the test's process: as the shell would run it, without the second that a process costs.

It runs in a thread of its own, since a command brings its own event loop; the test's loop serves Slack and the model
meanwhile. Environment, folder and output belong to the whole process, so commands take turns.
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


async def run(program: str, arguments: tuple[str, ...], env: dict[str, str], folder: Path) -> tuple[int, str, str]:
    """Exit code, output and errors of `judge-bot` or `judge`, run in a folder with nothing but this environment."""
    main = {"judge-bot": judge_bot, "judge": judge}[program]
    return await asyncio.to_thread(_run, main, [program, *arguments], env, folder)


def _run(main: Callable[[], None], argv: list[str], env: dict[str, str], folder: Path) -> tuple[int, str, str]:
    with _TURN, _own_settings(env, folder), patch.object(sys, "argv", argv):
        code = 0
        with CliRunner().isolation() as (out, err, _):
            try:
                main()
            except SystemExit as exc:
                code = int(exc.code or 0)
            except BaseException:  # noqa: BLE001 - a process would end with a traceback, too
                code = 1
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            return code, out.getvalue().decode(), err.getvalue().decode()


@contextmanager
def _own_settings(env: dict[str, str], folder: Path) -> Iterator[None]:
    """The environment, the folder, and logging as they are for a new process; afterwards as they were."""
    before, root, here = structlog.get_config(), logging.getLogger(), Path.cwd()
    handlers, level = root.handlers[:], root.level
    # A logger that caches what it is bound to would keep it, and no later test could read what it logs.
    configure = partial(_configure, structlog.configure)
    with patch.dict(os.environ, env, clear=True), patch.object(structlog, "configure", configure):
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)
            structlog.configure(**before)
            root.handlers[:], root.level = handlers, level


def _configure(configure: Callable[..., None], **settings: Any) -> None:
    configure(**settings | {"cache_logger_on_first_use": False})
