"""What a case costs by its turn in a thread: `python -m bench.turns [CHECKOUT]`, such as an older
one with its `.venv`.

A shortcut on the answer of the first turn, and of the fifth. The bot of this checkout and that of
the other take turns, each as a new process beside a new pocket Slack. Printed for a case: the
processor time of the bot's process, and its calls of Slack's methods. Times are medians of the
rounds, ratios those of the pairs.
"""

import asyncio
import sys
import tempfile
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path
from statistics import median

from bench.bot import CHANNELS, Load, running
from bench.judging import stub_server

ROUNDS = 5
WARM_UP = 30
CASES = 100
UNDER_WAY = 2
TURNS = (1, 5)


def ask(load: Load, turn: int, number: int) -> None:
    """Has a person score the answer of that turn of a new thread."""
    channel = f"c{number % CHANNELS}"
    first = load.ann.post(channel, f"Why {number}? It is odd.")
    for earlier in range(1, turn):
        load.helper.post(channel, f"Because {number} is not even ({earlier}).", thread_ts=first.ts)
        load.ann.post(channel, f"And why is that ({earlier})?", thread_ts=first.ts)
    answer = load.helper.post(channel, f"Because {number} is not even.", thread_ts=first.ts)
    load.sent.append(load.ann.shortcut("score_reply", answer))


async def measure(checkout: Path, turn: int) -> tuple[float, Counter[str]]:
    """Processor time (ms) and calls of Slack for a case."""
    with tempfile.TemporaryDirectory() as folder, stub_server(0) as model_url:
        settings = {
            "OPENAI_BASE_URL": model_url,
            "DATABASE_URL": f"sqlite+aiosqlite:///{folder}/log.db",
        }
        async with running(
            (str(checkout / ".venv/bin/judge-bot"), "serve"), settings, folder
        ) as load:
            await load.soak("warm-up", partial(ask, load, turn), WARM_UP, UNDER_WAY)
            before = len(load.slack.workspace.journal.of("call"))
            *_, cpu_ms, _ = await load.soak(
                f"turn {turn}", partial(ask, load, turn), CASES, UNDER_WAY
            )
            calls = load.slack.workspace.journal.of("call")[before:]
            return cpu_ms, Counter(call.data["method"] for call in calls)


async def main(*others: str) -> None:
    """Prints a line for each turn and checkout."""
    checkouts = [Path.cwd(), *map(Path, others)]
    times = defaultdict[tuple[int, Path], list[float]](list)
    calls = dict[tuple[int, Path], Counter[str]]()
    for number in range(ROUNDS * len(TURNS)):
        turn = TURNS[number % len(TURNS)]
        for checkout in checkouts if number // len(TURNS) % 2 else checkouts[::-1]:
            cpu_ms, calls[turn, checkout] = await measure(checkout, turn)
            times[turn, checkout].append(cpu_ms)
    for (turn, checkout), found in sorted(times.items()):
        per_case = ", ".join(
            f"{method} {n / CASES:.2f}" for method, n in sorted(calls[turn, checkout].items())
        )
        ratio = median(
            this / its for this, its in zip(times[turn, checkouts[0]], found, strict=True)
        )
        print(
            f"turn {turn}, {checkout.name}: {median(found):.1f} ms, here {ratio:.2f} of "
            f"that; {per_case}"
        )


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
