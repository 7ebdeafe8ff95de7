"""What is stored of a channel gives the same outcomes as its messages, counted by hand.

It is what the watch has read, so without the feature watch they are left out.
"""

from datetime import timedelta

import pytest

from bot.domain.questions import Question
from bot.features.outcome.figures import OutcomeFigures
from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from pocket_slack import Message
from tests.stage import CHANNEL, Stage, StageFactory
from tests.watches import only, watch_helper

LATER = timedelta(minutes=50)


async def questions(stage: Stage) -> dict[str, Question]:
    """The questions so far; with events nothing is looked for, which could be faster than they are."""
    from tests.features.watch.watching import look  # here: the feature can be deleted

    if stage.services.settings.watch_by == "looking":
        await look(stage, LATER)
    figures = OutcomeFigures(stage.services_at(LATER))
    return {question.ts: question for question in await figures.recent(await only(stage))}


def ask(stage: Stage, words: str) -> Message:
    return stage.ann.post(CHANNEL, f"<@{stage.helper.id}> {words}")


async def is_question(stage: Stage, message: Message) -> bool:
    return message.ts in await questions(stage)


@pytest.mark.needs("watch")
@pytest.mark.parametrize("way", ["events", "looking"])
async def test_streams_steps_announcements_and_others_are_told_apart(
    open_stage: StageFactory, way: str
) -> None:
    manifest = load_manifest(parts=[MESSAGE_EVENTS] if way == "events" else [])
    stage: Stage = await open_stage(manifest=manifest, watch_by=way)
    await watch_helper(stage)
    helper = stage.helper
    streamed = ask(stage, "streamed?")
    stream = helper.stream(CHANNEL, "Run ", streamed.ts)
    helper.append(stream, "git reset.")
    helper.stop(stream)
    broken = ask(stage, "broken?")
    helper.stop(helper.stream(CHANNEL, "I am", broken.ts), is_errored=True)
    unfinished = ask(stage, "unfinished?")
    helper.stream(CHANNEL, "Not yet", unfinished.ts)
    announced = ask(stage, "announced?")
    in_two = ask(stage, "in two?")
    for question in (announced, in_two):
        helper.post(CHANNEL, "Let me look that up for you...", thread_ts=question.ts)
    end = helper.post(CHANNEL, "With Ctrl-Z.", thread_ts=in_two.ts)
    gone = ask(stage, "gone?")
    if way == "events":
        # Slack may deliver a message and its deletion in any order.
        await stage.eventually(lambda: is_question(stage, gone))
    stage.ann.delete(gone)
    stage.ann.post(CHANNEL, "Talk among people.")
    again = ask(stage, "STREAMED?")
    unanswered = (broken, unfinished, announced, again)
    expected = {streamed.ts: True, in_two.ts: True} | {each.ts: False for each in unanswered}

    async def are_told_apart() -> bool:
        found = await questions(stage)
        answered = {ts: bool(question.answer_ts) for ts, question in found.items()}
        return answered == expected

    await stage.eventually(are_told_apart)
    found = await questions(stage)
    assert found[in_two.ts].answer_ts == end.ts
    assert [ts for ts, question in found.items() if question.came_back] == [streamed.ts]
