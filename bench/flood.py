"""How long others wait behind a flood: `python -m bench.flood [DATABASE_URL]` (by default a new
SQLite file).

One person asks for 4,000 scores in one channel, 80 a second; the model takes a second for each.
Then another person asks five times in the same channel, and a third five times in another channel.
It prints how long they waited.
"""

import asyncio
import sys
import tempfile
import time

from bench.bot import COMMANDS, Load, running
from bench.judging import stub_server

FLOOD = 4_000
RATE = 80
MODEL_S = 1.0
ROUNDS = 5
LIMITS_OFF = {"MAX_CASES_PER_USER_PER_HOUR": "0", "MAX_CASES_PER_DAY": "0"}


async def waited_s(load: Load, name: str, channel: str, number: int) -> float:
    """How long a person waits for a verdict."""
    ask(load, name, channel, number)
    question = str(number)
    await load.slack.until(lambda: question in load.shown, 60)
    return load.shown[question] / 1000


def ask(load: Load, name: str, channel: str, number: int) -> None:
    """Asks for a score."""
    load.began_s[str(number)] = time.perf_counter()
    load.slack.person(name).command(channel, "/judge", f"Why {number}? | Because of {number}.")


async def main(database_url: str | None) -> None:
    """Runs the flood and the requests after it, and prints a line for each of those."""
    with tempfile.TemporaryDirectory() as folder, stub_server(MODEL_S) as model_url:
        url = database_url or f"sqlite+aiosqlite:///{folder}/log.db"
        settings = {"OPENAI_BASE_URL": model_url, "DATABASE_URL": url} | LIMITS_OFF
        async with running(COMMANDS["bot"], settings, folder) as load:
            workspace = load.slack.workspace
            others = [workspace.add_user(name).id for name in ("ben", "cat")]
            for channel in ("c0", "c1"):
                workspace.channel(channel).members += others
            for number in range(FLOOD):
                ask(load, "ann", "c0", number)
                await asyncio.sleep(1 / RATE)
            print(f"{FLOOD - len(load.shown)} cases of one person wait in c0")
            for number in range(FLOOD, FLOOD + ROUNDS):
                for place, (name, channel) in enumerate((("ben", "c0"), ("cat", "c1"))):
                    waited = await waited_s(load, name, channel, number * 10 + place)
                    print(f"{name} in {channel}: {waited:.1f} s", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else None))
