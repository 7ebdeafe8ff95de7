"""The `judge` command in a process of its own that can be killed, without the second that its imports take.

A server process imports the command once, and each run is forked from it.
"""

import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.context import ForkServerProcess

from judge.cli import main

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["pytest", "judge.cli", "judge.rows.batch", "judge.scoring.judging", "openai"])


def start(arguments: Sequence[str], environment: Mapping[str, str]) -> ForkServerProcess:
    """`judge` with `arguments`, and with nothing but `environment` set."""
    process = _FORKS.Process(target=_run, args=(list(arguments), dict(environment)))
    process.start()
    return process


def _run(arguments: list[str], environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["judge", *arguments]
    main()
