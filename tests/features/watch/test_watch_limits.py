"""What a watch may use up in a day, of its own limits and of the workspace's; and never a word of
our own.
"""

import pytest

from bot.domain.case import CaseStatus
from bot.domain.limits import Limits
from bot.domain.watch import LATE, ReplyOutcome
from bot.features.watch.looks import SELDOM
from bot.features.watch.taking import MOST_OF_A_QUESTION
from bot.features.watch.watcher import REST
from tests.features.watch.watching import (
    add_other,
    look,
    outcomes,
    say,
    seen,
    take_finished,
    watch_elsewhere,
)
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage


@pytest.fixture(autouse=True)
async def _watched(stage: Stage) -> None:
    await say(stage, "@helper all alert off")


async def test_another_companys_assistant_cannot_be_watched(stage: Stage) -> None:
    add_other(stage).user.team_id = "T0ELSEWHERE"
    assert "There is no bot `@other` in this channel" in await say(stage, "@other all")


@pytest.mark.parametrize("trouble", ["a denied channel", "another company", "a day late"])
async def test_what_may_not_be_scored_now_or_is_a_day_late_is_missed(
    stage: Stage, trouble: str
) -> None:
    stage.ask_and_answer()
    await seen(stage, 1)
    settings = stage.services.settings
    if trouble == "a denied channel":
        here = frozenset({stage.slack.workspace.channel(CHANNEL).id})
        settings = settings.model_copy(update={"channels_denied": here})
    if trouble == "another company":
        stage.helper.user.team_id = "T0ELSEWHERE"  # it was allowed, when the watch was set
    later = LATE + REST if trouble == "a day late" else REST
    await take_finished(stage, later, settings=settings)
    assert await outcomes(stage) == {ReplyOutcome.MISSED: 1}
    assert stage.model.requests == []


async def test_at_most_five_replies_to_a_question_are_scored(stage: Stage) -> None:
    parent = stage.ann.post(CHANNEL, QUESTION)
    pager = stage.another_app()
    for _ in range(MOST_OF_A_QUESTION + 1):
        stage.helper.post(CHANNEL, ANSWER, thread_ts=parent.ts)
        pager.post(CHANNEL, "Noted.", thread_ts=parent.ts)
    stage.ann.post(CHANNEL, "And then?", thread_ts=parent.ts)
    stage.helper.post(CHANNEL, ANSWER, thread_ts=parent.ts)
    await seen(stage, MOST_OF_A_QUESTION + 2)
    # A watch is no person, to whose limit it would keep.
    await take_finished(stage, limits=Limits(cases_per_user_per_hour=1))
    taken = {ReplyOutcome.TAKEN: MOST_OF_A_QUESTION + 1, ReplyOutcome.OVER: 1}
    assert await outcomes(stage) == taken


def reads(stage: Stage) -> list[tuple[str, str]]:
    """The calls that read a reply or its question, in order, without the looks of the running app."""
    calls = [
        entry.data for entry in stage.slack.workspace.journal.of("call") if "args" in entry.data
    ]
    return [
        (call["method"], call["args"]["channel"])
        for call in calls
        if call["method"] in {"conversations.history", "conversations.replies"}
        and str(call["args"]["limit"]) != "200"
    ]


async def test_what_is_over_the_days_limit_is_not_read(stage: Stage) -> None:
    await say(stage, "@helper 1 a day")
    for _ in range(4):
        stage.ask_and_answer()
    await seen(stage, 4)
    before = len(reads(stage))
    await take_finished(stage)
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 1, ReplyOutcome.OVER: 3}
    assert len(reads(stage)) - before == 1  # the thread


async def ask_elsewhere(stage: Stage, channel_id: str) -> None:
    stage.helper.post(channel_id, ANSWER, thread_ts=stage.ann.post(channel_id, QUESTION).ts)
    await look(stage, 2 * SELDOM)  # the bot's own look may have been a moment ago


async def test_a_channel_that_cannot_be_read_keeps_no_other_waiting(stage: Stage) -> None:
    elsewhere = await watch_elsewhere(stage)
    for _ in range(2):
        stage.ask_and_answer()
    await ask_elsewhere(stage, elsewhere)
    stage.ann.remove(CHANNEL, stage.slack.workspace.bot.id)
    await take_finished(stage, 3 * SELDOM)
    case = await stage.reaches(1, CaseStatus.DELIVERED)
    assert case.channel_id == elsewhere
    stage.ann.invite(CHANNEL, stage.slack.workspace.bot.id)
    await take_finished(stage, 3 * SELDOM)
    assert (await stage.reaches(3, CaseStatus.DELIVERED)).channel_id != elsewhere


async def test_watches_leave_half_of_the_workspaces_day_to_people(stage: Stage) -> None:
    for number in range(1, 4):
        stage.ask_and_answer()
        await seen(stage, number)
        await take_finished(stage, limits=Limits(cases_per_day=4))
        await stage.reaches(min(number, 2), CaseStatus.DELIVERED)
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 2, ReplyOutcome.OVER: 1}
