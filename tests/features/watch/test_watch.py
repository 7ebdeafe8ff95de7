"""A watched assistant's replies are scored by themselves: drawn, finished, and in figures of their
own.
"""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from bot.domain.case import CaseSource, CaseStatus
from bot.domain.watch import LATE, Coverage, ReplyOutcome, Shows
from bot.features.watch import text
from bot.features.watch.figures import CountedWatch
from bot.features.watch.looks import OFTEN, SELDOM
from bot.features.watch.reply_queries import Replies, SeenReply
from bot.features.watch.watcher import REST
from bot.slack import ids
from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from bot.store.audit import Action
from bot.store.figures import Place, Span
from bot.store.schema import cases, replies, watches
from bot.store.visibility import Origin
from tests import gestures
from tests.features.watch.watching import (
    add_other,
    alarm,
    end,
    look,
    only,
    outcomes,
    say,
    scored,
    seen,
    take_finished,
    told,
)
from tests.gestures import up_to_date
from tests.model_server import Decided, Failure
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, StageFactory, shown


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage(
        manifest=load_manifest(parts=[MESSAGE_EVENTS]), watch_by="events"
    )
    return opened


async def test_a_watched_reply_is_scored_once_it_is_finished_and_nothing_is_posted(
    stage: Stage,
) -> None:
    stage.ask_and_answer()
    said = await say(stage, "@helper all")
    watch = await only(stage)
    assert said == text.begun(watch, "helper", watch.channel_id).text
    _, answer, case = await scored(stage)
    assert (case.message_ts, case.source, case.probability) == (answer.ts, CaseSource.WATCH, 1.0)
    assert stage.ours() == []
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 1}


@pytest.mark.needs("digest")
async def test_a_drawn_reply_without_a_score_is_missed_and_the_others_stand_for_it(
    stage: Stage,
) -> None:
    await say(stage, "@helper all")
    await scored(stage)
    stage.model.script("I cannot say.")
    await scored(stage, 2)
    assert await outcomes(stage) == {ReplyOutcome.TAKEN: 1, ReplyOutcome.MISSED: 1}
    stage.ann.command(CHANNEL, ids.COMMAND, "stats")
    said = shown(await stage.told(stage.ann, 2))
    assert "2 replies. 1 scored (the others missed or unscored)" in said


@pytest.mark.needs("privacy")
async def test_a_drawn_reply_is_missed_if_its_question_is_forgotten_before_it_is_read(
    stage: Stage,
) -> None:
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
    assert {case.question for case in cases} == {QUESTION}


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


@pytest.mark.needs("digest")
async def test_replies_whose_stream_fails_or_never_ends_broke_off_and_are_counted(
    stage: Stage,
) -> None:
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
    stage.ann.command(CHANNEL, ids.COMMAND, "stats")
    said = shown(await stage.told(stage.ann, 3))
    assert "3 replies. 0 scored (2 broke off, 1 drawn, but not an answer to a person)" in said


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


async def test_where_nothing_may_be_scored_nothing_is(stage: Stage) -> None:
    await say(stage, "@helper all")
    stage.ask_and_answer()
    await seen(stage, 1)
    denied = {"channels_denied": frozenset({stage.slack.workspace.channel(CHANNEL).id})}
    await take_finished(stage, settings=stage.services.settings.model_copy(update=denied))
    assert await outcomes(stage) == {ReplyOutcome.MISSED: 1}


async def test_a_reply_whose_question_was_edited_since_is_not_scored(stage: Stage) -> None:
    await say(stage, "@helper all")
    parent, _ = stage.ask_and_answer()
    stage.ann.edit(parent, "What is the meaning of life?")
    await seen(stage, 1)
    await take_finished(stage)
    assert await outcomes(stage) == {ReplyOutcome.EDITED: 1}


async def test_a_message_that_answers_no_person_is_passed_over(stage: Stage) -> None:
    other = add_other(stage)
    await say(stage, "@helper all")
    stage.helper.post(CHANNEL, "Good morning!")
    parent = stage.ann.post(CHANNEL, QUESTION)
    stage.helper.post(CHANNEL, "", thread_ts=parent.ts, files=[{"id": "F1", "name": "a.png"}])
    other.post(CHANNEL, "On it.", thread_ts=parent.ts)
    gone = stage.helper.post(CHANNEL, "Never mind.", thread_ts=parent.ts)
    other.post(CHANNEL, ANSWER, thread_ts=parent.ts)  # nobody watches it
    await seen(stage, 3)
    stage.helper.delete(gone)
    await take_finished(stage)
    assert await outcomes(stage) == {ReplyOutcome.NO_ANSWER: 2, ReplyOutcome.DELETED: 1}


async def test_what_is_not_named_stays_as_it_was(stage: Stage) -> None:
    await say(stage, "@helper all")
    assert (await only(stage)).alerts_to == (stage.ann.id,)
    await say(stage, "@helper 1 in 5 40 a day")
    await say(stage, "@helper verdict alert off")
    watch = await only(stage)
    assert (watch.share, watch.per_day, watch.shows, watch.alerts_to) == (
        0.2,
        40,
        Shows.VERDICT,
        (),
    )
    counted = CountedWatch(watch, "helper", Coverage({}), None)
    assert await say(stage, "") == text.state([counted]).text
    assert await end(stage, "helper") == text.ended("helper")
    assert await say(stage, "") == text.state([]).text
    assert await say(stage, "@helper off") == text.not_watched("helper", [])
    acts = [act.what for act in await stage.log.audit.since()]
    assert acts == [Action.WATCH_SET] * 3 + [Action.WATCH_ENDED]


async def test_a_name_that_no_bot_has_is_answered_with_those_there_are(stage: Stage) -> None:
    for typed in ("helpr", "ben", "helper all"):
        assert await say(stage, f"@{typed} all") == text.no_assistant(typed, ["helper"])
    assert "What I understand" in await say(stage, "helper")


async def test_a_reply_that_is_edited_after_it_was_scored_is_marked(stage: Stage) -> None:
    await say(stage, "@helper all")
    _, answer, _ = await scored(stage)
    stage.helper.edit(answer, "Run git revert.")
    assert (await up_to_date(stage)).edited_at
    assert stage.ours() == []


async def test_two_processes_make_one_case_of_a_reply(stage: Stage) -> None:
    await say(stage, "@helper all")
    stage.ask_and_answer()
    await seen(stage, 1)
    await asyncio.gather(*(take_finished(stage) for _ in range(3)))
    await stage.reaches(1, CaseStatus.DELIVERED)
    assert (len(stage.model.requests), await outcomes(stage)) == (1, {ReplyOutcome.TAKEN: 1})


async def test_what_is_a_day_late_is_missed_and_never_scored_as_if_it_were_fresh(
    stage: Stage,
) -> None:
    await say(stage, "@helper all")
    stage.ask_and_answer()
    await seen(stage, 1)
    await take_finished(stage, LATE + REST)
    assert await outcomes(stage) == {ReplyOutcome.MISSED: 1}
    assert stage.model.requests == []


async def test_what_somebody_asks_for_on_a_posted_verdict_is_no_draw(stage: Stage) -> None:
    await say(stage, "@helper verdict")
    parent, _, _ = await scored(stage, opening="Hello.")
    verdict = await stage.verdict(parent)
    assert verdict.text.startswith("Score 4 of 5: ")
    stage.ann.click(verdict, ids.ACTION_WRONG_QUESTION)
    await stage.fill_in(stage.ann, {ids.BLOCK_QUESTION: "What is a branch?"})
    again = await stage.reaches(2, CaseStatus.DELIVERED)
    assert (again.probability, again.shows, again.requester_id) == (None, None, stage.ann.id)
    team_id = stage.slack.workspace.team_id
    channel_id = stage.slack.workspace.channel(CHANNEL).id
    span = Span(datetime(2026, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))
    place = Place(team_id, channel_id, origin=Origin.WATCHED)
    rows = await stage.log.tallies.scores(place, span, span.start)
    assert sum(row.number for row in rows) == 1


async def test_an_unscored_reply_is_not_posted(stage: Stage) -> None:
    stage.model.script("I would rather not say.")
    await say(stage, "@helper verdict")
    await scored(stage)
    assert stage.ours() == []
    assert len(stage.ann.ephemerals(CHANNEL)) == 1


async def test_a_watch_without_scores_says_so_to_the_person_who_set_it(stage: Stage) -> None:
    stage.model.script("I would rather not say.")
    await say(stage, "@helper all")
    await scored(stage)  # without a score
    for _ in range(2):
        stage.ask_and_answer()
    await seen(stage, 3)
    await alarm(stage, timedelta(minutes=30))  # the model may still have them
    assert not stage.slack.workspace.channel(stage.ann.im).messages
    await alarm(stage, timedelta(hours=2))
    (told,) = stage.slack.workspace.channel(stage.ann.im).messages.values()
    assert "although 3 replies were drawn. The model may not be answering" in told.text


async def test_few_replies_without_a_score_for_days_are_told_once_for_each_cause(
    stage: Stage,
) -> None:
    await say(stage, "@helper all")
    await scored(stage)
    now = datetime.now(UTC)
    stage.model.script(Failure(401))
    for number in range(2, 6):
        await scored(stage, number)
    ids_in_order = await stage.log.database.values(select(cases.c.id).order_by(cases.c.id))
    # Two each six hours, and the last score before them.
    for case_id, hours in zip(ids_in_order, (20, 14, 13, 8, 7), strict=True):
        at = now - timedelta(hours=hours)
        case = await stage.log.cases.get(case_id)
        judged = update(cases).filter_by(id=case_id)
        await stage.log.database.execute(judged.values(judged_at=at))
        seen_at = update(replies).filter_by(ts=case.message_ts)
        await stage.log.database.execute(seen_at.values(rests_at=at - timedelta(minutes=1)))
    await stage.log.database.execute(update(watches).values(since=now - timedelta(days=2)))
    for days in range(3):
        await alarm(stage, timedelta(days=days))
    (message,) = told(stage)
    assert "although 4 replies were drawn. The model's server rejects the app's key" in message.text
    last = update(cases).filter_by(id=ids_in_order[-1])
    later = now + timedelta(days=2, hours=1)
    values = {"unscored_reason": "QuotaExceededError", "judged_at": later}
    await stage.log.database.execute(last.values(values))
    await alarm(stage, timedelta(days=3))
    assert "has no credit left" in told(stage)[-1].text


@pytest.mark.parametrize(("replies", "told"), [(9, 0), (10, 1)])
async def test_an_assistant_of_which_nothing_is_seen_any_more_is_told_of_once(
    stage: Stage, replies: int, told: int
) -> None:
    await say(stage, "@helper 1 in 9999 alert here")
    for _ in range(replies):
        stage.ask_and_answer()
    await seen(stage, replies)
    await alarm(stage, timedelta(days=6))
    assert stage.ours() == []
    for day in (8, 9, 16):
        await alarm(stage, timedelta(days=day))
    assert len(stage.ours()) == told
    assert all(
        " for a week, after 10 the week before. It may have left" in each.text
        for each in stage.ours()
    )


async def test_an_assistant_that_answers_less_is_not_gone(stage: Stage) -> None:
    await say(stage, "@helper 1 in 9999 alert here")
    watch = await only(stage)
    stage.ask_and_answer()
    await seen(stage, 1)
    for number in range(10):
        ts = f"{(datetime.now(UTC) - timedelta(days=9)).timestamp() + number:.6f}"
        old = SeenReply(watch.team_id, watch.channel_id, ts, watch.author_id, None, None)
        await Replies(stage.log.database).note(old, watch, datetime.now(UTC))
    await alarm(stage)
    assert stage.ours() == []


async def test_blind_labels_are_drawn_from_random_replies_where_there_are_any(stage: Stage) -> None:
    await gestures.scored(stage)
    await say(stage, "@helper all")
    stage.ask_and_answer("What is a branch?", "A name for a commit.")
    await seen(stage, 1)
    await take_finished(stage)
    await stage.reaches(2, CaseStatus.DELIVERED)
    who = stage.slack.workspace.team_id, stage.ben.id, [stage.slack.workspace.channel(CHANNEL).id]
    assert await stage.log.assignments.waiting(*who)
    drawn = await stage.log.assignments.draw(*who)
    assert drawn is not None
    assert drawn.id == 2


async def test_a_reply_in_an_unknown_shape_does_not_delay_others(stage: Stage) -> None:
    await say(stage, "@helper all")
    _, odd = stage.ask_and_answer()
    stage.ask_and_answer()
    await seen(stage, 2)
    odd.attachments = [None]  # type: ignore[list-item]
    await take_finished(stage)  # what was changed is waited for again
    await take_finished(stage, 3 * REST)
    assert await outcomes(stage) == {ReplyOutcome.NO_ANSWER: 1, ReplyOutcome.TAKEN: 1}
    await look(stage, 2 * SELDOM)


async def test_two_bots_with_one_name_must_be_told_apart_by_id(stage: Stage) -> None:
    twin = stage.slack.workspace.add_bot("twin")
    twin.name = stage.helper.user.name
    stage.slack.workspace.channel(CHANNEL).members.append(twin.id)
    said = await say(stage, "@helper all")
    assert said == (
        f"Several here are named `@helper`. Use an id instead: `@{stage.helper.id}`, `@{twin.id}`."
    )
    for author_id in (stage.helper.id, twin.id):
        assert "*helper* is now watched in" in await say(stage, f"@{author_id} all")
    assert "Several here are named `@helper`" in await say(stage, "off @helper")
    assert "*helper* is no longer watched here" in await end(stage, twin.id)
    (left,) = await stage.log.watches.of(stage.slack.workspace.team_id)
    assert left.author_id == stage.helper.id


async def test_what_a_watch_waits_for_ends_with_it_and_is_no_loss_of_the_next_one(
    stage: Stage,
) -> None:
    await say(stage, "@helper all")
    await scored(stage)
    stage.ask_and_answer()
    await seen(stage, 2)
    await end(stage, "helper")
    await take_finished(stage)
    await say(stage, "@helper all")
    assert "1 seen, 1 scored or in progress." in await say(stage, "")


async def test_a_decision_model_scores_all_replies_and_is_asked_for_a_reason_where_a_score_is_low(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage(
        manifest=load_manifest(parts=[MESSAGE_EVENTS]), watch_by="events", judge_ask="decision"
    )
    assert "all of its replies to people. Scores" in await say(stage, "@helper all alert off")
    assert (await only(stage)).per_day == 0
    low = []
    for number, score in enumerate((3, 2), 1):
        decided = Decided({str(level): float(level == score) for level in range(6)})
        stage.model.script(decided, "It does not answer the question.")
        _, _, case = await scored(stage, number)
        verdict = await stage.log.cases.verdict(case.id)
        assert verdict
        low.append(verdict.justification)
    assert low == ["", "It does not answer the question."]
    assert ["questions" in request for request in stage.model.requests] == [True, True, False]
