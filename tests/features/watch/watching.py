"""What tests of watches do and ask: the command, the jobs of the clock, and what the log says."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any

from sqlalchemy import insert, select, update

from bot.domain.case import CaseSource, CaseStatus, LoggedCase
from bot.domain.limits import Limits
from bot.domain.watch import ReplyOutcome, Watch
from bot.features.watch import ids, looks
from bot.features.watch.alerts import Alerts
from bot.features.watch.looks import OFTEN
from bot.features.watch.queries import WatchOrders, watched
from bot.features.watch.reply_queries import Replies, SeenReply
from bot.features.watch.taking import Taker
from bot.features.watch.watcher import REST, Watcher
from bot.slack import ids as slack_ids
from bot.store import Store
from bot.store.notices import key_of
from bot.store.schema import cases, ratings
from pocket_slack import Message, Person
from tests.cases import NOW, a_row
from tests.stage import CHANNEL, Stage
from tests.watches import only

NO_LIMITS = Limits()
WATCH = Watch("T1", "C1", "U1", NOW)


def a_reply(number: int, words: str | None = "hash", **changes: str) -> SeenReply:
    """One of the replies that WATCH sees, a second after the one before it."""
    return replace(
        SeenReply("T1", "C1", f"{1795339203 + number}.000001", "U1", None, words), **changes
    )


async def say(stage: Stage, text: str) -> str:
    """What ann is told after `/judge watch ...`."""
    before = len(stage.ann.ephemerals(CHANNEL))
    stage.ann.command(CHANNEL, slack_ids.COMMAND, f"watch {text}".strip())
    return (await stage.told(stage.ann, before + 1)).text


def told(stage: Stage, person: Person | None = None) -> list[Message]:
    """The app's direct messages to a person, by default to ann."""
    return list(stage.slack.workspace.channel((person or stage.ann).im).messages.values())


async def end(stage: Stage, name: str) -> str:
    """What ann is told once she has confirmed that the watch on an assistant ends."""
    assert "End the watch on" in await say(stage, f"off @{name}")
    before = stage.ann.ephemerals(CHANNEL)[-1]
    stage.ann.click(before, ids.ACTION_WATCH_OFF)
    await stage.slack.until(
        lambda: "End the watch on" not in stage.ann.ephemerals(CHANNEL)[-1].text
    )
    return stage.ann.ephemerals(CHANNEL)[-1].text


async def take_finished(
    stage: Stage, later: timedelta = REST, limits: Limits = NO_LIMITS, **changes: Any
) -> None:
    """The watcher's periodic job, so much later."""
    services = stage.services_at(later + timedelta(seconds=1), limits=limits, **changes)
    await Taker(services).take_finished()


async def scored(
    stage: Stage, number: int = 1, **asked: Any
) -> tuple[Message, Message, LoggedCase]:
    """A question and the reply that is the watch's case `number`, once it is scored."""
    question, reply = stage.ask_and_answer(**asked)
    await seen(stage, number)
    await take_finished(stage)
    return question, reply, await stage.reaches(number, CaseStatus.DELIVERED)


def add_other(stage: Stage) -> Person:
    """Another assistant in the channel."""
    stage.slack.workspace.add_bot("other")
    stage.ann.invite(CHANNEL, "other")
    return stage.slack.person("other")


async def watch_elsewhere(stage: Stage) -> str:
    """A watch on the same assistant in a second channel; gives the channel's id."""
    workspace = stage.slack.workspace
    elsewhere = workspace.add_channel(
        "elsewhere", [stage.ann.user, stage.helper.user, workspace.bot]
    ).id
    watch = Watch(workspace.team_id, elsewhere, stage.helper.id, datetime.now(UTC))
    await orders(stage).save(watch, stage.ann.id)
    return elsewhere


def orders(stage: Stage) -> WatchOrders:
    return WatchOrders(stage.log.database)


async def outcomes(stage: Stage, author_id: str = "") -> dict[ReplyOutcome | None, int]:
    """What has become of the replies of the one watch that there is, or of this assistant's."""
    watches = await stage.log.watches.of(stage.slack.workspace.team_id)
    (watch,) = [each for each in watches if author_id in {"", each.author_id}]
    days = await Replies(stage.log.database).coverage(watched(watch), "2026-01-01")
    return dict(sum((Counter(each.outcomes) for each in days.values()), Counter()))


async def seen(stage: Stage, number: int) -> None:
    """Returns once so many replies are in the store."""

    async def are_there() -> bool:
        return sum((await outcomes(stage)).values()) >= number

    await stage.eventually(are_there)


async def see(log: Store, watch: Watch, at: datetime, outcome: ReplyOutcome | None = None) -> None:
    """A reply of the watched assistant that was drawn then, with what became of it."""
    reply = replace(a_reply(0), **key_of(watch), ts=f"{at.timestamp():.6f}")
    await Replies(log.database).note(reply, watch, at)
    if outcome:
        await Replies(log.database).settle(reply, outcome)


async def look(stage: Stage, later: timedelta = OFTEN) -> None:
    """The look at watched channels, so much later."""
    services = stage.services_at(later)
    often = services.settings.model_copy(update={"watch_by": "looking"})
    await looks.look(Watcher(replace(services, settings=often)))


async def write_scores(
    stage: Stage,
    scores: list[tuple[float, int, int]],
    version: str = "m, additive-5 1",
    **texts: str,
) -> None:
    """Scores of the watched assistant: so many days ago, which, and how many; "{}" in a text
    becomes the score.
    """
    watch = await only(stage)
    now = datetime.now(UTC)
    row = a_row(
        **key_of(watch),
        source=CaseSource.WATCH,
        model="m",
        judge_version=version,
        probability=1.0,
        created_at=now,
    )
    rows = []
    for day, score, count in scores:
        at = now - timedelta(days=day)
        said = {name: text.format(score) for name, text in texts.items()}
        for number in range(count):
            key = {"key": f"{version}/{day}/{score}/{number}", "score": score, "judged_at": at}
            ts = f"{at.timestamp() - number / 1000:.6f}"
            rows.append(row | said | key | {"message_ts": ts})
    async with stage.log.database.engine.begin() as connection:
        await connection.execute(insert(cases), rows)


async def write_low(stage: Stage, count: int, score: int = 1, **rating: Any) -> None:
    """Low replies of an hour ago, by two ratings or one with probabilities, as if just delivered."""
    await write_scores(stage, [(1 / 24, score, count)])
    database = stage.log.database
    await database.execute(update(cases).values(delivered_at=datetime.now(UTC)))
    given = {"score": score, "justification": "", "raw": ""} | rating
    rows = [
        {"team_id": row.team_id, "case_id": row.id, "position": position} | given
        for row in await database.all(select(cases.c.team_id, cases.c.id))
        for position in range(1 if rating else 2)
    ]
    await database.execute(insert(ratings).values(rows))


def an_alarm(stage: Stage, later: timedelta = timedelta()) -> Alerts:
    """What looks at watches with somebody to hear of them, on a clock that is so much later."""
    return Alerts(stage.services_at(later))


def until_noon() -> timedelta:
    """To tomorrow's noon in UTC; for looks that have to be on one day, because a day's alert has
    its name.
    """
    now = datetime.now(UTC)
    return datetime.combine(now.date() + timedelta(days=1), time(12), UTC) - now


async def alarm(stage: Stage, later: timedelta = timedelta()) -> None:
    """One look of it."""
    await an_alarm(stage, later).look()
