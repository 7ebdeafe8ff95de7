"""What came of questions, as the digest, stats and the Home tab say it."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from bot.domain.outcome import Outcome, Outcomes, Sign, counted
from bot.domain.questions import Question
from bot.features.outcome import feature
from bot.features.outcome.contradicted import Contradicted
from bot.features.outcome.figures import OutcomeFigures
from bot.features.outcome.shares import Shares, more_contested
from bot.features.outcome.shown import ACTION_CONTRADICTED, WORD
from bot.features.outcome.signs import SignReader
from bot.features.outcome.text import (
    ALL_MEANT,
    contested_line,
    outcome_line,
    release_lines,
    shares_block,
    waiting_blocks,
)
from bot.pipeline.text import none_watched
from bot.slack import ids
from bot.slack.members import Member
from bot.store.figures import to_ts
from bot.store.schema import assignments, contradicted
from bot.store.seen_messages import SeenMessages
from judge.evaluation.stats import wilson
from pocket_slack import Message
from tests.cases import NOW
from tests.features.outcome.listening import listening, noted
from tests.features.outcome.test_outcomes import START, a_message
from tests.gestures import home, stats
from tests.stage import CHANNEL, Stage, StageFactory, shown
from tests.tables import each
from tests.texts import read
from tests.watches import watch_helper


def test_outcomes_are_one_line() -> None:
    signs = {
        Sign.UNANSWERED: 2,
        Sign.COLLEAGUE: 13,
        Sign.CAME_BACK: 0,
        Sign.CONTESTED: 4,
        Sign.QUIET: 9,
    }
    half = timedelta(seconds=20)
    outcomes = Outcomes(40, 36, 1, half, timedelta(minutes=4), 12, 28, 10, signs)
    assert outcome_line(outcomes) == (
        "40 questions in four weeks: 36 answered, half within 20 s, the slowest tenth after 4 min; "
        "3 not answered within a day; 1 not answered yet. Of 28 with an outcome, 13 joined by a "
        "colleague, 4 contested, 9 with no sign whether it helped. 10 too new to say, 2 not read."
    )
    assert outcome_line(counted([])) == ""


def test_what_waits_has_links_the_longest_first() -> None:
    times = [to_ts(NOW - timedelta(minutes=90 - 10 * number)) for number in range(7)]
    questions = [Question("C1", ts, ts, "U1", is_meant=True) for ts in times]
    members = {"U9": Member("helper", is_bot=True)}
    (block,) = waiting_blocks({"U9": questions}, members, NOW, "https://acme.slack.com/")
    lines = str(read([block])).splitlines()
    assert "*Not answered yet* by *helper*: 7 questions" in lines[0]
    assert "2 h ago" in lines[1]
    assert "and 2 more" in lines[-1]


async def asked_for(stage: Stage, typed: str, number: int) -> Message:
    stage.ann.command(CHANNEL, ids.COMMAND, f"{WORD} {typed}")
    return await stage.told(stage.ann, number)


@pytest.mark.needs("home", "digest", "labels", "watch")
async def test_home_and_stats_link_what_waits_and_list_what_askers_contradict(
    open_stage: StageFactory,
) -> None:
    from tests.features.watch.watching import scored  # here: the feature can be deleted

    stage = await listening(open_stage)
    _, reply, case = await scored(stage)  # 4 of 5
    stage.ann.post(CHANNEL, "No, that is wrong.", thread_ts=reply.thread_ts)
    stage.ann.post(CHANNEL, f"<@{stage.helper.id}> And now?")
    await noted(stage, 4)
    stage.model.script("confirmed: no\nthanked: no\ncontested: yes\nhanded over: no")
    later = stage.services_at(timedelta(hours=2))
    await SignReader(later).look()
    figures = OutcomeFigures(later)
    assert not await figures.waiting(stage.slack.workspace.team_id, ["C0"])
    await Contradicted(later, figures).note()
    assert await stage.log.database.values(select(contradicted.c.case_id)) == [case.id]
    of_helper = await stats(stage, "@helper", 1)
    assert "2 questions in four weeks: 1 answered" in shown(of_helper)
    assert "*Not answered yet* by *helper*: 1 question\n" in shown(of_helper)
    assert "1 reply with a good score contested" in shown(of_helper)
    assert "Not answered yet" not in shown(await stats(stage, "", 2))
    at_home = str(read((await home(stage)).body["blocks"]))
    assert "*Not answered yet* by *helper*: 1 question" in at_home
    stage.ann.click(of_helper, ACTION_CONTRADICTED)
    listed = await stage.told(stage.ann, 3)
    assert f"|Score {case.score} of 5>" in shown(listed)
    assert shown(await asked_for(stage, "@helper", 4)) == shown(listed)
    said = shown(await asked_for(stage, "last week", 5))
    assert said == none_watched(WORD, "last week", ["helper"])
    stage.ann.click(listed, ids.ACTION_FAIR)

    async def is_chosen() -> bool:
        return any("Fair ✓" in str(each.blocks) for each in stage.ann.ephemerals(CHANNEL))

    await stage.eventually(is_chosen)
    told = await stage.log.database.values(select(assignments.c.user_id).filter_by(case_id=case.id))
    assert told == [stage.ann.id]


@each(("late", "is_told"), [(20, True), (5, False)])
def test_more_contested_good_scores_are_told_when_clear(late: int, is_told: bool) -> None:
    before = NOW - timedelta(days=28)
    outcomes = list[Outcome]()
    for number, begin in ((late, NOW), (2, before)):
        for at in range(60):
            ts = to_ts(begin + timedelta(hours=at))
            signs = frozenset({Sign.CONTESTED} if at < number else ())
            outcomes.append(Outcome(Question("C1", ts, ts, "U1", is_meant=True), signs))
    found = more_contested(outcomes, NOW, before)
    assert (found is not None) == is_told
    if found:
        assert "contested more of the replies with good scores: *33%*" in contested_line(found)


def test_the_questions_of_one_thread_compare_no_release() -> None:
    assert release_lines(Shares(30, {}), Shares(30, {Sign.QUIET: wilson(12, 30)})) == []


def test_details_have_the_share_of_each_sign_with_its_range() -> None:
    shares = {Sign.CONTESTED: wilson(3, 30), Sign.QUIET: wilson(12, 30)}
    lines = str(read([shares_block("helper", Shares(30, shares))])).splitlines()
    assert lines[0].startswith("*helper*, of 30 questions of four weeks with an outcome")
    assert lines[1] == "• contested: 10%, between 3% and 27%"


async def test_the_watch_says_that_all_messages_count_where_most_are_answered(
    stage: Stage,
) -> None:
    watch = await watch_helper(stage)
    later = stage.services_at(timedelta(hours=2))
    assert await feature(later).questions_of(watch) == ""
    now = datetime.now(UTC).timestamp() - START
    channel = {"team_id": watch.team_id, "channel_id": watch.channel_id}
    for at in range(0, 300, 60):
        seen = SeenMessages(stage.log.database)
        await seen.note(a_message(now + at, f"P{at}", **channel))
        answer = a_message(now + at + 9, watch.author_id, now + at, **channel, is_app=True)
        await seen.note(answer)
    assert await feature(later).questions_of(watch) == ALL_MEANT
