"""Cases in a store, with their verdicts, labels and reactions, without Slack."""

import json
from collections.abc import Awaitable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from zlib import crc32

from sqlalchemy import event, insert, select, update

from bot.domain.case import (
    Case,
    CaseSource,
    CaseStatus,
    CaseTurn,
    LoggedCase,
    Part,
    Visibility,
    text_hash,
)
from bot.domain.label import Label, Reaction
from bot.domain.verdict import CaseVerdict
from bot.domain.week import Schedule
from bot.pipeline.engine import Work
from bot.slack.messages import to_reaction
from bot.store import Store
from bot.store.database import upsert
from bot.store.jobs import JobKind
from bot.store.rubrics import ChannelJudge, SavedRubric
from bot.store.schema import cases, channels, people, releases, rubrics, thumbs
from judge import Flag, Rating, Unscored
from judge.scoring.ratings import UnscoredReason

SECRET = "the code of the safe is 4711"
BEGUN_AT = datetime.now(UTC)
TONE = (
    "Is it kind?\n\n<question>{prompt}</question>\n<response>{response}</response>\n\n"
    "score: N, where N is between 0 and 5\n"
)


WEEK = Schedule.parse("monday", "0:00", "Europe/Berlin").current(datetime(2026, 11, 18, tzinfo=UTC))
NOW = WEEK.end + timedelta(hours=9)
THURSDAY = datetime(2026, 11, 19, 12, tzinfo=UTC)
ANN = "U-ann"
HELPER = "U1"
TS, SECOND, THIRD = (f"{seconds}.000001" for seconds in range(1795339203, 1795339206))  # of replies


def url(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder}/log.db"


def a_case(**changes: Any) -> Case:
    return Case(
        **{
            "key": "k1",
            "team_id": "T1",
            "channel_id": "C1",
            "requester_id": "U1",
            "requester_name": "ann",
            "source": CaseSource.TEXT,
            "rubric": "additive-5",
            "visibility": Visibility.THREAD,
            "question": "Why?",
            "response": "Because.",
            **changes,
        }
    )


def a_row(**changes: Any) -> dict[str, Any]:
    """Returns the columns of a delivered case that somebody requested in a channel, without its
    verdict.

    Each key is a message of its own.
    """
    case = {
        "message_ts": f"1795000000.{crc32(str(changes.get('key')).encode()) % 10**6:06}",
        "team_id": "T1",
        "channel_id": "C1",
        "requester_id": "U1",
        "requester_name": "ann",
        "source": CaseSource.SHORTCUT,
        "rubric": "additive-5",
        "visibility": Visibility.THREAD,
        "attempt": 1,
        "status": CaseStatus.DELIVERED,
        "lowest": 0,
        "highest": 5,
    }
    return case | changes


def a_turn(part: Part, ts: str, text: str = "Hello.", author_id: str = ANN) -> CaseTurn:
    """A message that a case was read from."""
    its = {"role": "Person 1", "text": text, "text_hash": text_hash(text)}
    return CaseTurn(part=part, ts=ts, author_id=author_id, **its)


async def held(log: Store, case: LoggedCase | int) -> LoggedCase:
    """The case, claimed for an attempt to settle it."""
    claimed = await log.claim(case if isinstance(case, int) else case.id)
    assert claimed is not None
    return claimed


def bare_verdict(
    score: int | None = 4, reason: str = "no_score", detail: str = "", **changes: Any
) -> CaseVerdict:
    """A verdict without ratings; `reason` and `detail` say why there is no score if `score` is
    None.
    """
    its = {
        "score": score,
        "unscored": Unscored(reason=cast("UnscoredReason", reason), detail=detail)
        if score is None
        else None,
        "mean": None,
        "spread": None,
        "justification": "" if score is None else "Good.",
        "ratings": (),
        "basis": "0 of 0",
        "model": "m",
        "rubric": "additive-5",
        "rubric_version": "f846c469",
    }
    return CaseVerdict(**its | changes)


def a_verdict(score: int = 4) -> CaseVerdict:
    its: dict[str, Any] = {"weighted_score": 3.9, "cost_usd": 0.002}
    rating = Rating(
        score=score, justification="Good.", raw="score: 4", model="m", served="m-2026", **its
    )
    its |= {
        "mean": score,
        "spread": 0,
        "justification": "",
        "ratings": (rating,),
        "basis": "1 of 1",
    }
    return bare_verdict(score, flags=(Flag.ASKS_FOR_SCORE,), **its)


async def delivered(
    log: Store, key: str = "k1", age: timedelta = timedelta(0), **changes: Any
) -> LoggedCase:
    """A delivered case with a rating and a label, created `age` ago."""
    case, _ = await log.add(a_case(key=key, **changes))
    case = await log.record(await held(log, case), a_verdict())
    case = await log.note_delivered(case)
    await log.labels.put(case, "U9", Label(3, None))
    await put_back(log, case, age)
    return case


async def asked(
    log: Store, key: str = "asked", age: timedelta = timedelta(0), **changes: Any
) -> LoggedCase:
    """A case that waits for its question, created `age` ago."""
    case, _ = await log.add(a_case(key=key, question=None, **changes))
    await log.note_asked(await held(log, case))
    await put_back(log, case, age)
    return case


async def put_back(log: Store, case: LoggedCase, age: timedelta) -> None:
    async with log.database.engine.begin() as connection:
        await connection.execute(
            update(cases).where(cases.c.id == case.id).values(created_at=BEGUN_AT - age)
        )


async def numbers(log: Store) -> list[int]:
    return [case.id for case in await newest(log, 10_000)]


def bytes_on_disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob("log.db*")))


async def judged(
    log: Store,
    key: str,
    score: int | None = 4,
    posted: dict[str, Any] | None = None,
    **changes: Any,
) -> LoggedCase:
    case, _ = await log.add(a_case(**({"key": key, "response": f"Because of {key}."} | changes)))
    return await log.record(
        (await held(log, case)).model_copy(update=posted or {}), bare_verdict(score)
    )


async def keep_rubric(log: Store, saved: SavedRubric) -> None:
    """Writes a version of a rubric, as if somebody had saved it in Slack."""
    row = asdict(saved) | {"version": saved.rubric.version}
    await log.database.execute(insert(rubrics).values(row))


async def choose_judge(log: Store, judge: ChannelJudge) -> None:
    """Gives T1's channel C1 this judge, as if somebody had chosen it in Slack."""
    row = {
        "team_id": "T1",
        "channel_id": "C1",
        "rubric": judge.rubric,
        "rubric_version": judge.version,
        "judge_model": judge.model,
    }
    await log.database.execute(upsert(log.database, channels, row))


async def stale(log: Store) -> list[LoggedCase]:
    """The cases whose verdict in Slack is not up to date."""
    marked = [await log.edits.case(case.id) for case in await newest(log, 10)]
    return [case for case in marked if case]


async def amendments(log: Store) -> list[int]:
    """The case numbers of the jobs that bring a verdict up to date."""
    assert log.database.queue
    found = await log.database.queue.browse_queue(entrypoints=[JobKind.AMEND])
    return [json.loads(job.payload or b"")["case_id"] for job in found]


async def add(log: Store, count: int = 1, at: datetime = THURSDAY, **changes: Any) -> list[int]:
    """Adds delivered verdicts that carl asked for; returns their numbers."""
    row = a_row(
        requester_id="U-carl",
        requester_name="carl",
        rubric_version="v",
        question="Why?",
        response="Because.",
        author_id="U-bot",
        score=4,
        created_at=at,
        judged_at=at,
        model="m",
    )
    async with log.database.engine.begin() as connection:
        first = len((await connection.execute(select(cases.c.id))).all()) + 1
        numbers = range(first, first + count)
        rows = [row | {"key": f"k{n}", "message_ts": f"{n}.0"} | changes for n in numbers]
        await connection.execute(insert(cases), rows)
    return list(numbers)


async def noted(log: Store) -> list[tuple[Any, ...]]:
    """Who did what, and to which channel or case, or to how many."""
    return [
        (act.who, act.what, act.channel_id or act.case_id or act.cases)
        for act in await log.audit.since()
    ]


async def plans(log: Store, work: Awaitable[object], *tables: str) -> list[str]:
    """How SQLite goes through these tables in the statements that the work executes."""
    asked: list[tuple[str, Any]] = []
    listened = log.database.engine.sync_engine, "before_cursor_execute"
    event.listen(*listened, lambda *call: asked.append((call[2], call[3])))
    await work
    steps = []
    async with log.database.engine.connect() as connection:
        reads = [each for each in asked if each[0].startswith(("SELECT", "UPDATE"))]
        for statement, values in reads:
            plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
            details = plan.scalars(3).all()
            steps += [each for each in details if any(f" {name}" in each for name in tables)]
    assert steps
    return steps


async def thumbs_kept(log: Store) -> int:
    return len(await log.database.all(select(thumbs)))


def thumb(name: str = "+1", minute: int = 0, **changes: Any) -> Reaction:
    """A thumb that ann gave helper's reply, `minute` minutes after NOW."""
    told = {
        "type": "reaction_added",
        "user": ANN,
        "reaction": name,
        "item_user": HELPER,
        "event_ts": "0",
    }
    item = {"type": "message", "channel": "C1", "ts": TS}
    found = to_reaction({"team_id": "T1", "event": told | {"item": item}})
    assert found
    return replace(found, at=NOW + timedelta(minutes=minute), **changes)


async def save_visibility(
    log: Store, team_id: str, user_id: str, visibility: Visibility | None
) -> None:
    """As if the person had chosen in the Home tab who sees their verdicts."""
    values = {
        "team_id": team_id,
        "user_id": user_id,
        "visibility": visibility,
        "updated_at": datetime.now(UTC),
    }
    await log.database.execute(upsert(log.database, people, values))


async def add_release(log: Store, by: str, note: str, at: datetime = NOW) -> None:
    """As if that person had marked a release of helper."""
    place = {"team_id": "T1", "channel_id": "C1", "author_id": HELPER}
    release = {"set_by": by, "set_at": at, "note": note, "day": at.date()}
    await log.database.execute(insert(releases).values(place | release))


async def notes(log: Store) -> list[tuple[str, str]]:
    """Who marked the releases that there are, and what they wrote on them."""
    found = await log.database.all(select(releases.c.set_by, releases.c.note))
    return [(row.set_by, row.note) for row in found]


class Teams:
    """The workspaces that an engine serves, each with its work."""

    def __init__(self, work: Mapping[str, Work]) -> None:
        self.work = dict(work)
        self.template = next(iter(work.values()))

    async def team_ids(self) -> list[str]:
        return list(self.work)

    async def work_of(self, team_id: str) -> Work | None:
        return self.work.get(team_id)


async def newest(log: Store, limit: int) -> list[LoggedCase]:
    """The last cases that were added, oldest first."""
    newest_first = select(cases).order_by(cases.c.id.desc()).limit(limit)
    return (await log.database.rows(LoggedCase, newest_first))[::-1]
