"""A watched assistant's replies are scored by themselves: drawn, finished, and in figures of their
own.
"""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select, update

from bot.domain.case import CaseSource, CaseStatus
from bot.domain.watch import Coverage, ReplyOutcome, Shows
from bot.features.watch import text
from bot.features.watch.figures import CountedWatch
from bot.features.watch.looks import OFTEN
from bot.features.watch.queries import watched
from bot.features.watch.taking import is_thanks
from bot.features.watch.watcher import REST
from bot.slack import ids
from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from bot.store.figures import BEGINNING, END, Span
from bot.store.schema import cases, watches
from tests import gestures
from tests.features.watch.watching import (
    add_other,
    alarm,
    end,
    look,
    outcomes,
    say,
    scored,
    see,
    seen,
    take_finished,
    told,
    write_scores,
)
from tests.model_server import Decided
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, StageFactory, shown
from tests.watches import only


async def test_a_watched_reply_is_scored_when_finished_and_nothing_is_posted(stage: Stage) -> None:
    stage.ask_and_answer()
    said = await say(stage, "@helper all")
    watch = await only(stage)
    assert said.startswith(text.begun(watch, "helper", watch.channel_id).text)
    _, answer, case = await scored(stage)
    assert (case.message_ts, case.source, case.probability) == (answer.ts, CaseSource.WATCH, 1.0)
    assert stage.ours() == []
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 1}


@pytest.mark.needs("digest")
async def test_a_drawn_reply_without_a_score_is_missed_and_not_posted(stage: Stage) -> None:
    await say(stage, "@helper verdict")
    await scored(stage)
    stage.model.script("I cannot say.")
    await scored(stage, 2)
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 1, ReplyOutcome.MISSED: 1}
    assert [verdict.text[:7] for verdict in stage.ours()] == ["Score 4"]
    stage.ann.command(CHANNEL, ids.COMMAND, "stats")
    said = shown(await stage.told(stage.ann, 2))
    assert "2 replies. 1 scored (1 missed or unscored)" in said


@pytest.mark.needs("privacy")
async def test_a_drawn_reply_is_missed_if_its_question_is_forgotten(stage: Stage) -> None:
    await say(stage, "@helper all")
    stage.ask_and_answer()
    await seen(stage, 1)
    await gestures.forget(stage, stage.ann, "me")
    await take_finished(stage)
    case = await stage.reaches(1, CaseStatus.DELIVERED)
    assert (case.question, case.response, case.question_author_id) == (None, None, None)
    assert stage.model.requests == []
    assert await outcomes(stage) == {ReplyOutcome.MISSED: 1}


async def test_replies_without_an_event_are_found_by_looking(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage()  # no message events
    parent, _ = stage.ask_and_answer()
    await say(stage, "@helper all")
    stage.ask_and_answer()
    stage.ann.post(CHANNEL, QUESTION, thread_ts=parent.ts)
    stage.helper.post(CHANNEL, ANSWER, thread_ts=parent.ts)
    question = stage.ann.post(CHANNEL, QUESTION)
    top = stage.helper.post(CHANNEL, ANSWER)
    await look(stage)  # what the app's own look finds first is due at once, and may be taken by now
    await look(stage, 2 * OFTEN)
    await take_finished(stage, 2 * OFTEN)
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 3}
    cases = [await stage.reaches(number, CaseStatus.DELIVERED) for number in (1, 2, 3)]
    assert [case.question_ts for case in cases if case.message_ts == top.ts] == [question.ts]


async def test_a_reply_that_is_streamed_is_scored_as_it_is_at_the_end(stage: Stage) -> None:
    await say(stage, "@helper all")
    parent = stage.ann.post(CHANNEL, QUESTION)
    answer = stage.helper.stream(CHANNEL, "Run git reset", parent.ts)
    await seen(stage, 1)
    await take_finished(stage)
    assert await outcomes(stage) == {None: 1}
    stage.helper.append(answer, " --soft HEAD~1.")
    stage.helper.stop(answer)
    await take_finished(stage, 2 * REST)
    await take_finished(stage, 3 * REST)
    case = await stage.reaches(1, CaseStatus.DELIVERED)
    assert case.response == "Run git reset --soft HEAD~1."


async def test_replies_whose_stream_fails_or_never_ends_broke_off(stage: Stage) -> None:
    await say(stage, "@helper all")
    hello = stage.helper.post(CHANNEL, "Hello!")  # which answers nobody
    stage.helper.stop(stage.helper.stream(CHANNEL, "I am", hello.ts), is_errored=True)
    for words in ("Run git", "Run git reset"):
        parent = stage.ann.post(CHANNEL, QUESTION)
        answer = stage.helper.stream(CHANNEL, words, parent.ts)
    stage.helper.stop(answer, is_errored=True)
    await seen(stage, 3)
    for minutes in (2, 61, 122):
        await take_finished(stage, timedelta(minutes=minutes))
    assert await outcomes(stage) == {ReplyOutcome.BROKE_OFF: 2, ReplyOutcome.NO_ANSWER: 1}
    assert stage.model.requests == []
    assert "3 seen, 2 broke off, 1 drawn" in await say(stage, "")


async def test_what_was_edited_since_the_look_is_waited_for_again(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage()  # no message events
    await say(stage, "@helper all")
    _, answer = stage.ask_and_answer(answer="thinking...")
    await look(stage)
    stage.helper.edit(answer, "Run git revert.")
    await take_finished(stage, OFTEN)
    assert await outcomes(stage) == {None: 1}
    await take_finished(stage, OFTEN + 2 * REST)
    assert (await stage.reaches(1, CaseStatus.DELIVERED)).response == "Run git revert."


@pytest.mark.parametrize(
    ("words", "expected"),
    [("Thanks!", True), ("thanks, and how do I undo it?", False), ("no", False)],
)
def test_who_says_no_may_answer_what_was_asked_back(words: str, expected: bool) -> None:
    assert is_thanks(words) == expected


async def test_what_answers_no_person_or_an_edited_question_is_passed_over(stage: Stage) -> None:
    other = add_other(stage)
    await say(stage, "@helper all")
    other.post(CHANNEL, "Who is on call?")
    stage.helper.post(CHANNEL, "Good morning!")
    parent = stage.ann.post(CHANNEL, QUESTION)
    stage.helper.post(CHANNEL, "", thread_ts=parent.ts, files=[{"id": "F1", "name": "a.png"}])
    other.post(CHANNEL, "On it.", thread_ts=parent.ts)
    gone = stage.helper.post(CHANNEL, "Never mind.", thread_ts=parent.ts)
    other.post(CHANNEL, ANSWER, thread_ts=parent.ts)  # nobody watches it
    question, _ = stage.ask_and_answer()
    stage.ann.edit(question, "What is the meaning of life?")
    stage.ask_and_answer(f"<@{stage.helper.id}> Thanks, that worked!", "You are welcome.")
    await seen(stage, 5)
    stage.helper.delete(gone)
    await take_finished(stage)
    expected = {ReplyOutcome.NO_ANSWER: 3, ReplyOutcome.DELETED: 1, ReplyOutcome.EDITED: 1}
    assert await outcomes(stage) == expected


async def test_a_watch_is_set_changed_listed_and_ended_by_the_command(stage: Stage) -> None:
    await say(stage, "@helper all")
    await say(stage, "@helper 1 in 5 verdict alert off")
    watch = await only(stage)
    assert (watch.share, watch.shows, watch.alerts_to) == (0.2, Shows.VERDICT, ())
    counted = CountedWatch(watch, "helper", Coverage({}), None)
    assert await say(stage, "") == text.state([counted]).text
    assert await end(stage, "helper") == text.ended("helper")
    assert await say(stage, "") == text.state([]).text
    assert await say(stage, "@helper off") == text.not_watched("helper", [])


async def test_a_name_that_no_bot_has_is_answered_with_those_there_are(stage: Stage) -> None:
    for typed in ("helpr", "ben", "helper all"):
        assert await say(stage, f"@{typed} all") == text.no_assistant(typed, ["helper"])
    assert "What I understand" in await say(stage, "helper")


async def test_two_processes_make_one_case_of_a_reply(stage: Stage) -> None:
    await say(stage, "@helper all")
    stage.ask_and_answer()
    await seen(stage, 1)
    await asyncio.gather(*(take_finished(stage) for _ in range(3)))
    await stage.reaches(1, CaseStatus.DELIVERED)
    assert (len(stage.model.requests), await outcomes(stage)) == (1, {ReplyOutcome.TAKEN: 1})


async def test_what_somebody_asks_for_on_a_posted_verdict_is_no_draw(stage: Stage) -> None:
    await say(stage, "@helper verdict")
    parent, _, _ = await scored(stage, opening="Hello.")
    stage.ann.click(await stage.verdict(parent), ids.ACTION_WRONG_QUESTION)
    await stage.fill_in(stage.ann, {ids.BLOCK_QUESTION: "What is a branch?"})
    again = await stage.reaches(2, CaseStatus.DELIVERED)
    assert (again.probability, again.shows, again.requester_id) == (None, None, stage.ann.id)
    rows = await stage.log.tallies.scores(
        watched(await only(stage)), Span(BEGINNING, END), BEGINNING
    )
    assert [row.number for row in rows] == [1]


async def drawn_without_score(stage: Stage, hours: float, reason: str) -> None:
    """A reply that was drawn so many hours ago, and whose verdict has no score for this reason."""
    await write_scores(stage, [(hours / 24, 4, 1)])
    unscored = {"score": None, "unscored_reason": reason}
    newest = select(func.max(cases.c.id)).scalar_subquery()
    await stage.log.database.execute(update(cases).where(cases.c.id == newest).values(unscored))
    at = datetime.now(UTC) - timedelta(hours=hours)
    await see(stage.log, await only(stage), at, ReplyOutcome.MISSED)


async def test_replies_without_a_score_for_hours_are_told_once_for_each_cause(stage: Stage) -> None:
    await say(stage, "@helper all")
    ago = datetime.now(UTC) - timedelta(days=2)
    await stage.log.database.execute(update(watches).values(since=ago))
    await write_scores(stage, [(20 / 24, 4, 1)])
    for hours in (14, 13, 0.5):
        await drawn_without_score(stage, hours, "KeyRejectedError")
    # The model may still have the last one, and silence of two may be chance.
    for hours, number in ((0, 0), (1, 1), (49, 1)):
        await alarm(stage, timedelta(hours=hours))
        assert len(told(stage)) == number
    assert "although 3 replies were drawn. The model's server rejects" in told(stage)[0].text
    await drawn_without_score(stage, -50, "QuotaExceededError")
    await alarm(stage, timedelta(days=3))
    assert "has no credit left" in told(stage)[-1].text


async def test_an_assistant_of_which_nothing_is_seen_any_more_is_told_of_once(stage: Stage) -> None:
    await say(stage, "@helper 1 in 9999 alert here")
    watch = await only(stage)
    # Of nine, a week without any may be chance. In the end it answers less, but is not gone.
    situations = [(0, 9, 8, 0), (0, 1, 6, 0), (0, 0, 8, 1), (0, 0, 16, 1), (20, 10, 20, 1)]
    situations.append((28, 1, 29, 1))
    at = datetime.now(UTC)
    for day, number, looked, alerts in situations:
        for _ in range(number):
            at += timedelta(seconds=1)
            await see(stage.log, watch, at + timedelta(days=day))
        await alarm(stage, timedelta(days=looked))
        assert len(stage.ours()) == alerts
    (said,) = stage.ours()
    assert " for a week, after 10 the week before. It may have left" in said.text


async def test_two_bots_with_one_name_must_be_told_apart_by_id(stage: Stage) -> None:
    twin = add_other(stage).user
    twin.name = stage.helper.user.name
    several = f"Several here are named `@helper`. Use an id instead: `@{stage.helper.id}`, "
    assert await say(stage, "@helper all") == f"{several}`@{twin.id}`."
    for author_id in (stage.helper.id, twin.id):
        assert "helper is now watched in" in await say(stage, f"@{author_id} all")
    assert "Several here are named `@helper`" in await say(stage, "off @helper")
    await end(stage, twin.id)
    assert (await only(stage)).author_id == stage.helper.id


async def test_a_decision_model_scores_all_and_is_asked_for_a_reason_for_a_low_score(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage(
        manifest=load_manifest(parts=[MESSAGE_EVENTS]), watch_by="events", judge_ask="decision"
    )
    await say(stage, "@helper all alert off")
    assert (await only(stage)).per_day == 0
    decided = Decided({str(level): float(level == 2) for level in range(6)})
    stage.model.script(decided, "It does not answer the question.")
    *_, case = await scored(stage)
    verdict = await stage.log.cases.verdict(case.id)
    assert verdict
    assert verdict.justification == "It does not answer the question."
