"""What watches bring to other features."""

import pytest
from sqlalchemy import func, select

from bot.domain.case import CaseStatus
from bot.store.schema import thumbs
from tests.features.watch.watching import say, scored, seen, take_finished, use_rubric
from tests.gestures import add_case, heard, help_desk, stats
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, shown

NO_LABELS = "thumbs (not labels):"


async def rows(stage: Stage) -> int:
    return int(await stage.log.database.value(select(func.count()).select_from(thumbs)))


@pytest.mark.needs("digest", "labels")
async def test_thumbs_under_watched_replies_are_counted_before_they_are_scored(
    stage: Stage,
) -> None:
    from bot.features.digest.ids import ACTION_DIGEST_DETAILS

    _, old = stage.ask_and_answer()
    await say(stage, "@helper 1 in 9999")
    _, answer = stage.ask_and_answer()
    await seen(stage, 1)
    for message in (old, answer):
        stage.ann.react(message, "-1")
    await heard(stage, 2)
    assert await rows(stage) == 1
    stage.ann.click(await stats(stage, count=2), ACTION_DIGEST_DETAILS)
    details = shown(await stage.told(stage.ann, 3))
    assert f"*helper*, {NO_LABELS} 0 up, 1 down on 1 reply" in details


@pytest.mark.needs("rubrics")
async def test_watched_replies_are_scored_with_the_channels_rubric(stage: Stage) -> None:
    await say(stage, "@helper all")
    await use_rubric(stage, "code")
    _, _, case = await scored(stage)
    assert (case.rubric, case.probability) == ("code", 1.0)


async def test_a_silently_watched_reply_is_not_paid_for_again_by_hand(stage: Stage) -> None:
    await say(stage, "@helper all")
    parent = stage.ann.post(CHANNEL, QUESTION)
    for question in ("", "And in a branch?"):
        if question:
            stage.ann.post(CHANNEL, question, thread_ts=parent.ts)
        first = stage.helper.post(CHANNEL, "One moment.", thread_ts=parent.ts)
        last = stage.helper.post(CHANNEL, ANSWER, thread_ts=parent.ts)
    await seen(stage, 2)
    await take_finished(stage)
    before = [await stage.reaches(number, CaseStatus.DELIVERED) for number in (1, 2)]
    asked = len(stage.model.requests)
    await stage.score(last)
    verdict = await stage.verdict(parent)
    assert "Score 4 of 5" in verdict.text
    assert len(stage.model.requests) == asked
    chosen = await stage.log.cases.get(3)
    assert chosen
    assert (chosen.message_ts, chosen.messages_before) == (first.ts, 3)
    assert [await stage.log.cases.get(number) for number in (1, 2)] == before


@pytest.mark.needs("digest")
async def test_watched_assistants_come_before_what_people_chose(stage: Stage) -> None:
    await say(stage, "@helper all")
    await add_case(stage, help_desk(stage), stage.helper.id, 4)
    told = await stats(stage, count=2)
    said = [block["text"]["text"] for block in told.blocks if block["type"] == "section"]
    assert said[1].startswith("*helper* has no scores of earlier days yet")
    assert said[2] == "*helper*: 1 reply chosen by people."
