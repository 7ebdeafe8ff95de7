"""What every message of a workspace costs: `python -m bench.watch [SECONDS]` (by default 60 for
each load).

The bot gets all messages and watches one assistant in one of 20 channels. Five loads take turns,
twice, while five commands a second must be acknowledged: nothing else; 200 messages of people a
second; 200 edits a second by another assistant, which streams by editing; 200 reactions a second
that are neither thumbs nor the channel's own; and 200 thumbs a second under a watched reply, in
turn added and removed. It prints the processor time per event, beyond that of the commands, and how
long the commands waited for their acks.
"""

import asyncio
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from statistics import median, quantiles

from bench.bot import CHANNELS, COMMANDS, Load, running
from bench.judging import stub_server
from bot.slack.manifest import MESSAGE_EVENTS
from pocket_slack import Message

RATE = 200
COMMAND_EVERY = 40
ROUNDS = 2


async def run(load: Load, do: Callable[[int], object], seconds: int) -> tuple[float, float, float]:
    """The total processor time in s, and how long commands waited: p50 and p99 in ms."""
    sent = []
    began = time.perf_counter()
    began_cpu_s = load.cpu_s()
    for number in range(RATE * seconds):
        do(number)
        if number % COMMAND_EVERY == 0:
            sent.append(load.ann.command("c0", "/judge", "help"))
        await asyncio.sleep(max(0.0, began + (number + 1) / RATE - time.perf_counter()))
    for delivery in sent:
        await load.slack.settled(delivery)
    waited = quantiles([delivery.acked_ms or 3000.0 for delivery in sent], n=100)
    return load.cpu_s() - began_cpu_s, waited[49], waited[98]


async def main(seconds: int) -> None:
    """Runs each load and prints a line for it."""
    with tempfile.TemporaryDirectory() as folder, stub_server(0) as model_url:
        settings = {
            "OPENAI_BASE_URL": model_url,
            "DATABASE_URL": f"sqlite+aiosqlite:///{folder}/log.db",
        }
        async with running(
            COMMANDS["bot"], settings | {"WATCH_BY": "events"}, folder, [MESSAGE_EVENTS]
        ) as load:
            helper = load.helper
            ann = load.ann
            await load.slack.settled(ann.command("c0", "/judge", "watch @helper all"))
            streamed = helper.post("c1", "0")
            watched = helper.post("c0", "1")

            def react(message: Message, name: str, number: int) -> None:
                (ann.unreact if number % 2 else ann.react)(message, name)

            loads: dict[str, Callable[[int], object]] = {
                "nothing": lambda _: None,
                "messages": lambda number: ann.post(f"c{number % CHANNELS}", f"Message {number}"),
                "edits": lambda number: helper.edit(streamed, str(number)),
                "reactions": lambda number: react(streamed, "tada", number),
                "thumbs": lambda number: react(watched, "+1", number),
            }
            found = defaultdict[str, list[tuple[float, float, float]]](list)
            for _ in range(ROUNDS):
                for name, do in loads.items():
                    found[name].append(await run(load, do, seconds))
            print(
                f"{RATE}/s for {seconds} "
                f"s{'CPU ms/event':>20}{'ack p50':>10}{'p99':>8}{'worst p99':>12}"
            )
            idle_s = median(cpu_s for cpu_s, _, _ in found["nothing"])
            for name, rounds in found.items():
                each_ms = (
                    (median(cpu_s for cpu_s, _, _ in rounds) - idle_s) / (RATE * seconds) * 1000
                )
                waits = [median(column) for column in zip(*rounds, strict=True)][1:]
                print(
                    f"{name:<16}{each_ms:>20.2f}{waits[0]:>10.1f}{waits[1]:>8.1f}{max(r[2] for r in rounds):>12.1f}"
                )


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 60))
