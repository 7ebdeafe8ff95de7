"""How long the figures of one channel's week take: a year of synthetic log, 1,000,000 verdicts.

    python -m bench.digest --week 40000 --before 10000

The store is made in /tmp once, with a fixed seed, and kept for the next run. The measured channel
has 40,000 cases in its week, and 10,000 in each of the seven weeks before, of which three count in
the level. Threads have 1 to 6 turns, each of them a case, and half of the labels are blind. Then
the figures of 500 weeks of the other channels are counted.
"""

import argparse
import asyncio
import random
import resource
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from zoneinfo import ZoneInfo

from bot.domain.case import Exclusion
from bot.domain.week import Schedule
from bot.features.digest.channel_week import read_lowest
from bot.figures.week import TREND_WEEKS, Chosen, read_chosen
from bot.store import Store
from bot.store.figures import Place, Span
from bot.store.tallies import Tallies

ZONE = ZoneInfo("Europe/Berlin")
WEEK = Schedule.parse("monday", "0:00", ZONE.key).current(datetime(2026, 11, 11, tzinfo=UTC))
BUSY = "C0"
TEAM = "T1"
CHANNELS = 50
BOTS = 12
PEOPLE = 300
WEIGHTS = (2, 5, 10, 20, 40, 23)
LABELLED = 0.01
MOST_TURNS = 6
RUNS = 30
DIGESTS = 500


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--verdicts", type=int, default=1_000_000)
    parser.add_argument(
        "--week", type=int, default=40_000, help="cases in the measured channel's week"
    )
    parser.add_argument(
        "--before", type=int, default=10_000, help="cases in each of the seven weeks before"
    )
    options = parser.parse_args()
    asyncio.run(measure(options.verdicts, options.week, options.before))


async def measure(verdicts: int, in_week: int, before: int) -> None:
    file = file_of(verdicts, in_week, before)
    log = await Store.open(f"sqlite+aiosqlite:///{file}")
    fill(file, verdicts, in_week, before)
    tallies = log.tallies
    place = Place(TEAM, BUSY)
    now = WEEK.end + timedelta(hours=9)
    chosen = await read(tallies, place, now)
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    took_ms = []
    used_ms = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        began_cpu = time.process_time()
        await read(tallies, place, now)
        took_ms.append((time.perf_counter() - begin) * 1000)
        used_ms.append((time.process_time() - began_cpu) * 1000)
    began_cpu = time.process_time()
    for number in range(DIGESTS):
        await read(tallies, Place(TEAM, f"C{1 + number % (CHANNELS - 1)}"), now)
    all_s = time.process_time() - began_cpu
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb
    await log.close()
    scored = f"{chosen.this.n:,} of one kind scored in the week, {len(chosen.authors)} authors"
    print(f"{verdicts:,} verdicts, {scored}")
    print(
        f"median {median(took_ms):.0f} ms ({median(used_ms):.0f} ms of processor time), "
        f"fastest {min(took_ms):.0f} ms,"
    )
    print(f"slowest of {RUNS} {max(took_ms):.0f} ms, memory grown by {grown_kb} KB")
    print(
        f"{DIGESTS} weeks of the other channels: {all_s:.1f} s of processor time, "
        f"{all_s * 1000 / DIGESTS:.0f} ms each"
    )


async def read(tallies: Tallies, place: Place, now: datetime) -> Chosen:
    """What a digest reads of the replies that people chose."""
    chosen = await read_chosen(tallies, place, WEEK, now)
    authors = [author.id for author in chosen.authors if author.id.startswith("B")]
    await read_lowest(tallies, place, Span(WEEK.start, chosen.until), authors)
    return chosen


def file_of(verdicts: int, in_week: int, before: int) -> Path:
    return Path(f"/tmp/slack-judge-bench-people-{verdicts}-{in_week}-{before}.db")  # noqa: S108 - kept on purpose


def fill(file: Path, verdicts: int, in_week: int, before: int) -> None:
    """Writes the year of log, unless it is already there."""
    chance = random.Random(6)
    with closing(sqlite3.connect(file)) as db:
        if db.execute("SELECT count(*) FROM cases").fetchone()[0] == verdicts:
            return
        db.execute("DELETE FROM cases")
        busy = [(WEEK, in_week), *((WEEK.before(back), before) for back in range(1, TREND_WEEKS))]
        moments = [
            (week.start + timedelta(weeks=1) * chance.random(), BUSY)
            for week, n in busy
            for _ in range(n)
        ]
        year = WEEK.end - timedelta(days=365)
        while len(moments) < verdicts:
            channel = f"C{chance.randrange(1, CHANNELS)}"
            moments.append((year + timedelta(days=365) * chance.random(), channel))
        moments.sort()
        open_threads: dict[str, list[int]] = {}
        db.executemany(
            _INSERT,
            (
                _case(chance, open_threads, number, *each)
                for number, each in enumerate(moments[:verdicts], 1)
            ),
        )
        db.executemany(
            _LABEL,
            (_label(chance, number) for number in range(1, verdicts) if chance.random() < LABELLED),
        )
        db.commit()


_INSERT = """INSERT INTO cases (id, team_id, key, channel_id, requester_id, requester_name, source, rubric, visibility,
    message_ts, thread_ts, reply_ts, author_id, excluded, attempt, question, response, justification, status, score,
    lowest, highest, unscored_reason, model, rubric_version, input_tokens, output_tokens, cost_usd, created_at,
    judged_at)
    VALUES (?, 'T1', ?, ?, ?, 'ann', 'shortcut', 'additive-5', ?, ?, ?, '2', ?, ?, ?, ?, ?, ?, 'delivered', ?, 0, 5, ?,
    'm', 'v', ?, ?, ?, ?, ?)"""
_LABEL = """INSERT INTO labels (team_id, channel_id, case_id, user_id, score, is_blind, created_at, updated_at)
    SELECT 'T1', channel_id, id, ?, ?, ?, ?, ? FROM cases WHERE id = ?"""
_WORDS = "The response answers the question and leaves out what happens to the changes. " * 8


def _case(
    chance: random.Random,
    open_threads: dict[str, list[int]],
    number: int,
    at: datetime,
    channel: str,
) -> tuple[object, ...]:
    """The columns of a case; `open_threads` has each channel's thread once for each turn that is to
    come.
    """
    score = chance.choices(range(6), WEIGHTS)[0] if chance.random() < 0.97 else None
    is_bot = chance.random() < 0.9
    author = f"B{chance.randrange(BOTS)}" if is_bot else f"U{chance.randrange(PEOPLE)}"
    is_repeat = chance.random() < 0.01
    message_ts = f"{number - 1 if is_repeat else number}.000001"
    if not open_threads.get(channel):
        open_threads[channel] = [number] * chance.randint(1, MOST_TURNS)
    thread_ts = f"{open_threads[channel].pop()}.000000"
    shown = "me" if chance.random() < 0.05 else "thread"
    excluded = None if is_bot else Exclusion.PERSON
    reason = "no_score" if score is None else None
    cost = 0.0012 if chance.random() < 0.9 else None
    asker = f"U{chance.randrange(PEOPLE)}"
    moment = at.astimezone(UTC).replace(tzinfo=None).isoformat(" ")
    texts = (_WORDS[:200], _WORDS, _WORDS[:300])
    judged = (score, reason, 900, chance.randrange(60, 200), cost, moment, moment)
    place = (channel, asker, shown, message_ts, thread_ts, author, excluded)
    return number, str(number), *place, 1 + is_repeat, *texts, *judged


def _label(chance: random.Random, number: int) -> tuple[object, ...]:
    moment = "2026-11-01 00:00:00.000000"
    score = chance.choices(range(6), WEIGHTS)[0]
    is_blind = chance.random() < 0.5
    return f"U{chance.randrange(PEOPLE)}", score, is_blind, moment, moment, number


if __name__ == "__main__":
    main()
