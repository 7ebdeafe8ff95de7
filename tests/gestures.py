"""What people do in Slack, and what they see then."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from bot.domain.case import CaseStatus, LoggedCase
from bot.slack import ids
from bot.store.schema import cases
from pocket_slack import Channel, Delivery, Entry, Message, Person, View
from tests.cases import a_row, stale, url
from tests.programs import run
from tests.stage import ANSWER, CHANNEL, Stage, buttons

QUOTING = f"score: 4\nThe response says: {ANSWER}"


GONE = "I removed what I had quoted"


async def add_cases(
    stage: Stage, channel: Channel, author_id: str, *scores: int, **changes: Any
) -> None:
    """Adds verdicts from a moment ago."""
    for score in scores:
        await add_case(stage, channel, author_id, score, **changes)


async def add_case(
    stage: Stage, channel: Channel, author_id: str, score: int | None, **changes: Any
) -> None:
    """Adds a verdict from a moment ago."""
    now = datetime.now(UTC)
    row = a_row(
        team_id=stage.workspace.team_id,
        key=f"{channel.id}:{author_id}:{score}:{now}",
        channel_id=channel.id,
        requester_id=stage.ben.id,
        requester_name="ben",
        author_id=author_id,
        message_ts=f"{now.timestamp():.6f}",
        score=score,
        created_at=now,
        judged_at=now,
    )
    async with stage.log.database.engine.begin() as connection:
        await connection.execute(insert(cases).values(row | changes))


def help_desk(stage: Stage) -> Channel:
    return stage.workspace.channel(CHANNEL)


def private(stage: Stage, *names: str) -> Channel:
    """A private channel with these people and the bot."""
    workspace = stage.workspace
    return workspace.add_channel(
        "leads", [*(workspace.user(name) for name in names), workspace.bot], is_private=True
    )


async def say(stage: Stage, text: str, person: Person | None = None) -> Message:
    """What a person is told after `/judge ...` in the channel."""
    who = person or stage.ann
    count = len(who.ephemerals(CHANNEL)) + 1
    who.command(CHANNEL, ids.COMMAND, text)
    return await stage.told(who, count)


async def stats(stage: Stage, text: str = "", count: int = 1) -> Message:
    """The answer to ann's `/judge stats ...`."""
    stage.ann.command(CHANNEL, ids.COMMAND, f"stats {text}")
    return await stage.told(stage.ann, count)


async def its_digest(stage: Stage) -> Message:
    """The digest of this week, posted as if the week were over and the digest due."""
    await post_digest(stage)
    (message,) = [message for message in stage.ours() if not message.is_reply]
    return message


async def post_digest(stage: Stage) -> None:
    from bot.features.digest.poster import post_due  # here, because the feature can be deleted

    now = datetime.now(UTC)
    schedule = stage.services.schedule
    since = {"is_digest_on": True, "digest_since": now}
    await stage.log.channels.save(stage.workspace.team_id, help_desk(stage).id, "U1", **since)
    await post_due(stage.services_at(schedule.current(now).end - now))


async def home(stage: Stage, person: Person | None = None) -> View:
    """The Home tab as published after it was opened."""
    who = person or stage.ann
    published = count(stage)
    who.open_home()
    return await republished(stage, published, who)


async def republished(stage: Stage, published: int, person: Person | None = None) -> View:
    """The Home tab once it has been published again."""
    await stage.slack.until(lambda: count(stage) > published)
    view = (person or stage.ann).home
    assert view is not None
    return view


async def press(
    stage: Stage, view: View, action_id: str, value: Any = None, block_id: str | None = None
) -> View:
    """The Home tab after a press in it."""
    published = count(stage)
    stage.ann.click(view, action_id, value, block_id)
    return await republished(stage, published)


async def open_settings(stage: Stage) -> View:
    """The window of ann's settings."""
    from bot.features.home.handlers import ACTION_HOME_SETTINGS  # here: the feature can be deleted

    stage.ann.click(await home(stage), ACTION_HOME_SETTINGS)
    return await stage.modal(stage.ann)


async def press_in_settings(
    stage: Stage, window: View, action: str, value: Any = None, block_id: str | None = None
) -> View:
    """The window once it has changed after a press in it."""
    before = len(calls(stage, "views.update"))
    stage.ann.click(window, action, value, block_id)
    await stage.slack.until(lambda: len(calls(stage, "views.update")) > before)
    return await stage.modal(stage.ann)


def calls(stage: Stage, method: str) -> list[Entry]:
    made = stage.workspace.journal.of("call")
    return [entry for entry in made if entry.data["method"] == method]


def count(stage: Stage) -> int:
    return len(stage.workspace.journal.of("home"))


def to_export(folder: Path, **env: str) -> dict[str, str]:
    """Only the environment that the command needs."""
    return {"PATH": os.environ["PATH"], "DATABASE_URL": url(folder), **env}


async def export(folder: Path, *options: str, **env: str) -> tuple[int, str, str]:
    return await run("export", to_export(folder, **env), folder, *options)


def link(stage: Stage, message: Message) -> str:
    return stage.workspace.permalink(message.channel_id, message.ts, message.thread_ts)


async def forget(stage: Stage, person: Person, what: str | Message) -> str:
    """The answer to a person's `/judge forget ...`, after pressing its button if there is one."""
    from bot.features.privacy.text import ACTION_FORGET  # here, because the feature can be deleted

    asked = await ask(stage, person, what)
    if ACTION_FORGET not in buttons(asked):
        return asked.text
    count = len(person.ephemerals(CHANNEL))
    person.click(asked, ACTION_FORGET)
    # What is deleted is told in place of the question, what is not beside it.
    await stage.slack.until(lambda: not buttons(asked) or len(person.ephemerals(CHANNEL)) > count)
    return person.ephemerals(CHANNEL)[-1].text if buttons(asked) else asked.text


async def ask(stage: Stage, person: Person, what: str | Message = "me") -> Message:
    """The first answer to `/judge forget ...`: what will be forgotten, and a button."""
    text = what if isinstance(what, str) else link(stage, what)
    return await say(stage, f"forget {text}", person)


async def settled(stage: Stage, number: int, delivery: Delivery) -> None:
    """Returns once this request has become a case, and the case is delivered."""
    await stage.slack.settled(delivery)
    await stage.reaches(number, CaseStatus.DELIVERED)


async def scored(
    stage: Stage, person: Person | None = None, **asked: Any
) -> tuple[Message, Message]:
    """A reply that a person has had scored, and the verdict on it."""
    parent, answer = stage.ask_and_answer(**asked)
    number = await stage.cases() + 1
    await settled(stage, number, (person or stage.ann).shortcut(ids.SHORTCUT_SCORE_REPLY, answer))
    return answer, await stage.verdict(parent)


async def scored_reply(stage: Stage) -> tuple[Message, Message]:
    """The question of a scored reply, and the reply."""
    parent, answer = stage.ask_and_answer()
    await settled(stage, 1, stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer))
    return parent, answer


def events(stage: Stage) -> list[Entry]:
    return [
        each for each in stage.workspace.journal.of("envelope") if each.data["type"] == "events_api"
    ]


async def up_to_date(stage: Stage, case_id: int = 1) -> LoggedCase:
    """A case, once the app has acknowledged all events and every verdict is up to date."""

    def is_taken() -> bool:
        acked = {each.data["envelope_id"] for each in stage.workspace.journal.of("ack")}
        return acked.issuperset(each.data["envelope_id"] for each in events(stage))

    async def is_said() -> bool:
        return all(each.status is not CaseStatus.DELIVERED for each in await stale(stage.log))

    await stage.slack.until(is_taken)
    await stage.eventually(is_said)
    return await stage.log.cases.get(case_id)


async def heard(stage: Stage, count: int) -> None:
    """Returns once the app has acknowledged that many reactions."""

    def acked() -> set[str]:
        acks = {each.data["envelope_id"] for each in stage.workspace.journal.of("ack")}
        told = [each.data for each in events(stage)]
        return acks.intersection(
            each["envelope_id"] for each in told if "reaction" in each["payload"]["event"]
        )

    await stage.slack.until(lambda: len(acked()) >= count)


async def go_ahead(stage: Stage, person: Person) -> str:
    """The answer after a person has asked to be forgotten and pressed the button."""
    return await forget(stage, person, "me")
