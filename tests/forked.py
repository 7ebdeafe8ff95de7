"""`judge-bot` in processes that are forked from one that has imported the bot, which costs 2.5 s of
CPU.

They are processes like others: with their own environment, output and signals, and nothing shared
with the test.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bot.cli import main

_CONTEXT = get_context("forkserver")
# pytest, too: a child imports the program that it was started from.
_CONTEXT.set_forkserver_preload(["pytest", "tests.slow.hurried"])


class Forked:
    """A running process, in which a module's `serve` gets the arguments.

    `returncode` is None while it runs, and negative if a signal ended it.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        env: Mapping[str, str],
        output: Path,
        errors: Path | None = None,
        folder: Path = Path(),
    ) -> None:
        files = (output, errors or output)
        self._process = _CONTEXT.Process(
            target=_begin, args=(module, arguments, dict(env), files, folder)
        )
        self._process.start()
        assert self._process.pid
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    async def wait(self) -> int:
        while (code := self.returncode) is None:  # noqa: ASYNC110 - it ends by itself
            await asyncio.sleep(0.01)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        with suppress(
            ProcessLookupError
        ):  # it has ended by itself, as a process of `subprocess` may
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@asynccontextmanager
async def forked(*arguments: Any, **how: Any) -> AsyncIterator[Forked]:
    """A process as `Forked` starts it, which is killed on exit if it still runs."""
    process = Forked(*arguments, **how)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def serve(*arguments: str) -> None:
    """Runs `judge-bot` with these arguments."""
    sys.argv = ["judge-bot", *arguments]
    main()


def _begin(
    module: str,
    arguments: tuple[str, ...],
    env: dict[str, str],
    files: tuple[Path, Path],
    folder: Path,
) -> None:
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    for number, file in enumerate(files, start=1):
        with file.open("ab") as opened:
            os.dup2(opened.fileno(), number)
    import_module(module).serve(*arguments)
