"""The messages of watched channels are noted without their words, however Slack tells of them."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from bot.domain.questions import Says, SeenMessage, questions_to
from bot.features.outcome.reader import is_small_talk
from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from bot.store.schema import seen_messages
from bot.store.seen_messages import SeenMessages
from tests.features.watch.watching import look, say
from tests.stage import CHANNEL, Stage, StageFactory


@pytest.fixture(params=["events", "looking"])
async def stage(open_stage: StageFactory, request: pytest.FixtureRequest) -> Stage:
    manifest = load_manifest(parts=[MESSAGE_EVENTS] if request.param == "events" else [])
    opened: Stage = await open_stage(manifest=manifest, watch_by=request.param)
    await say(opened, "@helper all alert off")
    return opened


async def seen(stage: Stage, number: int) -> list[SeenMessage]:
    """So many messages, once they are noted."""
    services = stage.services
    if services.settings.watch_by == "looking":
        await look(stage)
    messages = SeenMessages(stage.log.database)
    channel_id = stage.slack.workspace.channel(CHANNEL).id
    since = datetime.now(UTC) - timedelta(days=1)

    async def read() -> list[SeenMessage]:
        found = await messages.of(stage.slack.workspace.team_id, [channel_id], since)
        return sorted(found, key=lambda message: message.ts)

    async def are_there() -> bool:
        return len(await read()) == number

    await stage.eventually(are_there)
    return await read()


async def test_questions_and_answers_are_noted_without_words(stage: Stage) -> None:
    question = stage.ann.post(CHANNEL, f"<@{stage.helper.id}> How do I hand over a ticket?")
    stage.helper.post(CHANNEL, "With *Hand over*.", thread_ts=question.ts)
    stage.ben.post(CHANNEL, "Thanks a lot!", thread_ts=question.ts)
    asked, answer, thanks = await seen(stage, 3)
    assert (asked.mentions, asked.says, asked.is_app) == ((stage.helper.id,), Says.WORDS, False)
    assert (answer.is_app, answer.thread_ts, answer.says) == (True, question.ts, Says.WORDS)
    assert thanks.says is Says.THANKS
    (found,) = questions_to(stage.helper.id, [asked, answer, thanks], datetime.now(UTC))
    assert found.answer_ts
    rows = await stage.log.database.all(select(seen_messages))
    assert not any(word in str(row) for row in rows for word in ("ticket", "Hand over", "Thanks"))


async def test_a_deleted_message_is_dropped(stage: Stage) -> None:
    question = stage.ann.post(CHANNEL, f"<@{stage.helper.id}> Why?")
    await seen(stage, 1)
    if stage.services and stage.services.settings.watch_by == "events":
        stage.ann.delete(question)
        await seen(stage, 0)


@pytest.mark.needs("privacy")
async def test_what_a_person_wrote_goes_with_forget_me_and_does_not_come_back(
    stage: Stage,
) -> None:
    from bot.features.privacy.queries import PersonalData  # here: the feature can be deleted

    question = stage.ann.post(CHANNEL, f"<@{stage.helper.id}> Why?")
    stage.ben.post(CHANNEL, "I know.", thread_ts=question.ts)
    asked, _ = await seen(stage, 2)
    assert stage.services
    await PersonalData(stage.log.database).forget(asked.team_id, stage.ann.id)
    (left,) = await seen(stage, 1)
    assert left.author_id == stage.ben.id
    await SeenMessages(stage.log.database).note(asked)
    await seen(stage, 1)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Thanks!", True),
        ("Hi all :wave:", True),
        ("👍", True),
        ("thanks, and how do I undo it?", False),
        ("no", True),
        ("VPN?", False),
    ],
)
def test_greetings_and_thanks_are_small_talk(words: str, expected: bool) -> None:
    assert is_small_talk(words) == expected
