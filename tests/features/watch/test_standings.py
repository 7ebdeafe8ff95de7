"""An assistant is looked at once a day; a change is stored, and told once."""

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, insert, select, update

from bot.domain.limits import Limits
from bot.domain.standing import Standing, Whose
from bot.features.watch import ids
from bot.features.watch.new_models import NewModels
from bot.features.watch.standing_text import day_words, first_line
from bot.features.watch.standings import StandingLooks, subject_of
from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from bot.store.schema import (
    cases,
    causes,
    ratings,
    releases,
    spent,
    standings,
)
from bot.store.standings import Standings
from judge.evaluation.blame import FEWEST
from judge.evaluation.standing import Direction, Event
from tests.features.watch.test_alerts import change, direct
from tests.features.watch.watching import only, orders, say, until_noon, write_scores
from tests.gestures import its_digest
from tests.model_server import Failure, Held
from tests.stage import CHANNEL, Stage, StageFactory, shown

TEXTS = {"question": "Why?", "response": "Because, worth {}."}
DAY = timedelta(days=1)


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage(
        manifest=load_manifest(parts=[MESSAGE_EVENTS]), watch_by="events"
    )
    await say(opened, "@helper all alert me")
    return opened


async def look(stage: Stage, later: timedelta = timedelta()) -> None:
    """A look of another process, tomorrow at noon or so much later."""
    await StandingLooks(stage.services_at(until_noon() + later)).look()


async def standing(stage: Stage, watch: int = 0) -> Standing:
    watched = (await stage.log.watches.of(stage.slack.workspace.team_id))[watch]
    found = await Standings(stage.log.database).of(subject_of(watched))
    assert found
    return found


async def rows(stage: Stage) -> list[Any]:
    """All rows of standings, the newest first."""
    return list(await stage.log.database.all(select(standings).order_by(standings.c.id.desc())))


def version_of(stage: Stage) -> str:
    assert stage.services
    assert stage.services.judges
    return stage.services.judges.default.version


def ago(days: float) -> float:
    """So many days before tomorrow's noon, as days before now: no day's scores lie in two days."""
    return days - until_noon() / DAY


async def drop(stage: Stage, fallen: int = 2, **texts: str) -> None:
    """Writes four weeks of good scores, and two days of worse ones."""
    scores = [
        (ago(day + number / 99), 4 + number, 2) for day in range(3, 31) for number in range(2)
    ]
    scores += [
        (ago(day + number / 99), 4 - fallen + number, 15) for day in (1, 2) for number in range(2)
    ]
    await write_scores(stage, scores, version_of(stage), **(texts or TEXTS))


def worth(less: int = 0) -> Any:
    """A judge that gives each reply the score that it was given, or so much less."""

    def give(request: dict[str, Any]) -> str:
        found = re.search(r"worth (\d)", str(request["messages"]))
        assert found
        return f"score: {int(found[1]) - less}\nAs it is."

    return give


async def test_a_drop_is_told_once_and_then_remembered(stage: Stage) -> None:
    stage.model.script(worth())
    channel_id = stage.slack.workspace.channel(CHANNEL).id
    await change(stage, alerts_to=(channel_id, stage.ann.id, stage.ben.id))
    await drop(stage)
    await look(stage)
    await look(stage)
    await look(stage, DAY)
    (told,) = stage.ours()
    assert told.text.startswith("helper has become worse: 2.5 since ")
    assert shown(told).count("Score 2 of 5") == 1  # all have the same question
    assert direct(stage, "ann") == direct(stage, "ben") == [told.text]
    found = await standing(stage)
    assert found.direction is Direction.LOWER
    assert found.told_at
    assert found.whose is Whose.ASSISTANT
    assert found.looked_at.date() > found.stored_at.date()
    assert len(await rows(stage)) == 1


async def test_an_alert_says_how_many_are_low_why_two_examples_and_what_can_be_done(
    stage: Stage,
) -> None:
    stage.model.script(worth())
    await drop(stage)
    low = cases.c.score == 2
    ids_ = sorted(await stage.log.database.values(select(cases.c.id).where(low)))
    others = update(cases).where(low, cases.c.id > ids_[3])
    await stage.log.database.execute(
        others.values(question="How do I hand over?", response="Ask.", justification="No steps.")
    )
    sorted_ = [{"case_id": case_id, "name": "does not answer"} for case_id in ids_[:12]]
    watch = await only(stage)
    place = {"team_id": watch.team_id, "channel_id": watch.channel_id, "week": "w1"}
    async with stage.log.database.engine.begin() as connection:
        await connection.execute(insert(causes), [place | row for row in sorted_])
    await look(stage)
    (alert,) = stage.slack.workspace.channel(stage.ann.im).messages.values()
    assert "Scored 0 to 2: 30 of 60 (50%) since then, 0 of 112 (0%) before." in shown(alert)
    assert "Most often: *does not answer* (12 of 30 low replies in the last 7 days)" in shown(alert)
    assert shown(alert).count("|Score 2 of 5>") == 2
    assert "26 times: “How do I hand over?”\n“No steps.”" in shown(alert)
    row = next(block for block in alert.blocks if "pause_alerts" in str(block))
    spoken = [element["accessibility_label"] for element in row["elements"]]
    assert spoken[-2:] == ["Mark a release, helper", "Not for a week, helper"]


@pytest.mark.needs("digest")
async def test_the_model_is_asked_once_why_replies_are_low_before_a_drop_is_told(
    stage: Stage,
) -> None:
    asks = worth()

    def give(request: dict[str, Any]) -> str:
        if "No steps." in str(request["messages"]):
            return "no steps: 1-30"
        return str(asks(request))

    stage.model.script(give)
    await change(stage, alerts_to=(stage.ann.id, stage.ben.id))
    await drop(stage, justification="No steps.", **TEXTS)
    await look(stage)
    await look(stage, DAY)
    (alert,) = stage.slack.workspace.channel(stage.ann.im).messages.values()
    assert "Most often: *no steps* (30 of 30 low replies in the last 7 days)" in shown(alert)
    assert len(stage.model.requests) == 50 + 1


async def begin_next(stage: Stage, **changes: Any) -> None:
    """Stores a change that follows on the standing, to be told."""
    found = await standing(stage)
    following = replace(found, follows=found.id, is_to_tell=True, told_at=None, **changes)
    await Standings(stage.log.database).begin(following)


async def test_not_for_a_week_stops_a_further_drop_and_no_change_for_the_better(
    stage: Stage,
) -> None:
    channel_id = stage.slack.workspace.channel(CHANNEL).id
    await change(stage, alerts_to=(channel_id, stage.ann.id))
    stage.model.script(worth())
    await drop(stage)
    await look(stage)
    im = stage.slack.workspace.channel(stage.ann.im).messages
    (alert,) = im.values()
    stage.ann.click(alert, ids.ACTION_PAUSE)
    await stage.slack.until(lambda: "has paused these alerts until" in shown(alert))
    assert "Tell me again, helper" in str(alert.blocks)
    for event, direction, count in (
        (Event.FURTHER, Direction.LOWER, 1),
        (Event.BACK, Direction.STEADY, 2),
    ):
        await begin_next(stage, event=event, direction=direction)
        await look(stage)
        assert len(im) == count, event
    assert len(stage.ours()) == 3  # in the channel, nobody has said so
    stage.ann.click(alert, ids.ACTION_RESUME)
    await stage.slack.until(lambda: "has these alerts sent again" in shown(alert))
    await begin_next(stage, event=Event.FURTHER, direction=Direction.LOWER)
    await look(stage)
    assert len(im) == 3


async def test_a_standing_says_since_when_nothing_was_judged(stage: Stage) -> None:
    await write_scores(stage, [(ago(day), 4, 5) for day in range(1, 12)])
    await look(stage)
    assert "not judged since" not in first_line(await standing(stage), "helper")
    await look(stage, 5 * DAY)
    found = await standing(stage)
    day = (datetime.now(UTC) + until_noon() - DAY).date()
    assert found.judged_on == day
    assert f"(not judged since {day_words(day)})" in first_line(found, "helper")


async def test_one_process_asks_and_stores_the_change_of_a_day(stage: Stage) -> None:
    stage.model.script(worth())
    await drop(stage)
    await asyncio.gather(look(stage), look(stage))
    assert len(await rows(stage)) == 1
    assert len(direct(stage, "ann")) == 1
    assert len(stage.model.requests) == 50  # what the watch may spend in a day


async def test_a_change_that_was_stored_is_told_by_the_next_process(stage: Stage) -> None:
    stage.model.script(worth())
    await change(stage, alerts_to=())
    await drop(stage)
    await look(stage)
    await change(stage, alerts_to=(stage.ann.id,))
    # As a process left it that ended before it told anybody.
    current = await standing(stage)
    await Standings(stage.log.database).begin(replace(current, is_to_tell=True, follows=current.id))
    await look(stage)
    await look(stage)
    assert len(direct(stage, "ann")) == 1


@pytest.mark.needs("digest")
async def test_a_digest_that_comes_before_the_first_look_has_it_done(stage: Stage) -> None:
    await change(stage, alerts_to=())
    scores = [(day + 1.0, 4, 4) for day in range(28)]
    await write_scores(stage, scores, version_of(stage), **TEXTS)
    digest = await its_digest(stage)
    assert "*helper* is steady: 4.0" in shown(digest)


async def test_two_judges_of_an_assistant_do_not_take_turns_and_another_one_is_told(
    stage: Stage,
) -> None:
    usual = version_of(stage)
    for version, number in ((usual, 4), ("m, strict 2", 3)):
        scores = [(ago(day), 4, number) for day in range(1, 21)]
        await write_scores(stage, scores, version)
    await look(stage)
    # Now most scores of a week are the other's, but not two thirds.
    await write_scores(stage, [(ago(day + 0.01), 4, 3) for day in range(1, 8)], "m, strict 2")
    await look(stage, DAY)
    assert [row.version for row in await rows(stage)] == [usual]
    await write_scores(stage, [(ago(day), 4, 9) for day in range(1, 8)], "m, strict 2")
    for _ in range(2):
        await look(stage, 2 * DAY)
    assert {row.version for row in await rows(stage)} == {usual, "m, strict 2"}
    (notice,) = direct(stage, "ann")
    assert "is now scored by m, strict 2" in notice.replace("`", "")


async def test_public_channels_are_one_series_and_a_private_one_is_its_own(stage: Stage) -> None:
    await write_scores(stage, [(ago(day), 4, 3) for day in range(1, 21)], version_of(stage))
    everywhere = await only(stage)
    others = [("C-PUBLIC", False), ("C-PRIVATE", True)]
    for channel_id, is_private in others:
        watch = replace(everywhere, channel_id=channel_id, is_private=is_private)
        await orders(stage).save(watch, stage.ann.id)
    half = update(cases).where(cases.c.id % 2 == 0)
    await stage.log.database.execute(half.values(channel_id="C-PUBLIC"))
    third = update(cases).where(cases.c.id % 3 == 0)
    await stage.log.database.execute(third.values(channel_id="C-PRIVATE"))
    await look(stage)
    found = await Standings(stage.log.database).of_team(everywhere.team_id)
    numbers = {subject.channel_id: row.n for subject, row in found.items()}
    assert numbers == {"": 40, "C-PRIVATE": 20}


async def test_the_lowest_replies_are_those_of_channels_that_the_reader_is_in(
    stage: Stage,
) -> None:
    stage.model.script(worth())
    await drop(stage)
    watch = await only(stage)
    other = replace(watch, channel_id="C-OTHER", is_private=False)
    await orders(stage).save(other, stage.ann.id)
    low = update(cases).where(cases.c.score == 2)
    await stage.log.database.execute(low.values(channel_id="C-OTHER"))
    await look(stage)
    im = stage.slack.workspace.channel(stage.ann.im)
    (told,) = im.messages.values()
    assert "Score 2 of 5" not in shown(told)
    assert "<#C-OTHER>" in shown(told)


async def test_who_may_see_which_channel_is_not_known_and_the_change_is_told_without_replies(
    stage: Stage,
) -> None:
    stage.model.script(worth())
    await drop(stage)
    services = stage.services_at(until_noon())
    await services.memberships.of()
    stage.slack.fail("users.conversations", error="missing_scope")
    await StandingLooks(services).look()
    (alert,) = stage.slack.workspace.channel(stage.ann.im).messages.values()
    assert "Score 2 of 5" not in shown(alert)


async def test_a_drop_that_is_the_judges_begins_another_judge(stage: Stage) -> None:
    stage.model.script(worth(1))
    await drop(stage, fallen=1)
    await look(stage)
    (said,) = direct(stage, "ann")
    assert said.startswith("The judge has become stricter since ")
    assert said.endswith("; helper has not changed.")
    found = await standing(stage)
    begun = datetime.now(UTC) + until_noon() - 2 * DAY
    later = f"{version_of(stage)}, since {begun:%Y-%m-%d}"
    assert (found.direction, found.version) == (Direction.TOO_FEW, later)
    counts = select(cases.c.judge_version, func.count()).group_by(cases.c.judge_version)
    assert {tuple(row) for row in await stage.log.database.all(counts)} == {
        (version_of(stage), 112),
        (later, 60),
    }
    assert len(await stage.log.database.values(select(spent.c.id))) >= 50
    await look(stage, DAY)
    assert direct(stage, "ann") == [said]


async def test_what_is_forgotten_or_edited_meanwhile_leaves_the_sample(stage: Stage) -> None:
    gate = asyncio.Event()
    stage.model.script(Held(gate, "score: 4\nGood."))
    await drop(stage)
    good = select(cases.c.id).where(cases.c.score >= 4).order_by(cases.c.id).limit(30)
    before = await stage.log.database.values(good)
    telling = asyncio.create_task(look(stage))
    await stage.model.asked(1)
    await stage.log.forgetting.forget(before[:15], "U1")
    edited = update(cases).where(cases.c.id.in_(before[15:])).values(edited_at=datetime.now(UTC))
    await stage.log.database.execute(edited)
    gate.set()
    await telling
    assert (await standing(stage)).asked < 50


@pytest.mark.parametrize("wakes", [False, True])
async def test_a_look_whose_process_ends_or_stalls_while_it_asks_is_taken_over(
    stage: Stage, wakes: bool
) -> None:
    stalled = asyncio.Event()
    stage.model.script(Held(stalled, "score: 3\nAs it is."))
    await drop(stage)
    looking = asyncio.create_task(look(stage))
    await stage.model.asked(1)
    if not wakes:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
    stage.model.script(worth())
    await look(stage)
    assert await rows(stage) == []  # the other may still be asking
    await look(stage, timedelta(minutes=16))
    stalled.set()
    await asyncio.gather(looking, return_exceptions=True)
    assert len(await rows(stage)) == 1
    assert len(direct(stage, "ann")) == 1


@pytest.mark.parametrize(
    ("texts", "limits", "reply", "why"),
    [
        ({"question": "Why?"}, Limits(), worth(1), f"fewer than {FEWEST} replies with texts"),
        (TEXTS, Limits(cases_per_day=1), worth(1), "a daily limit is used up"),
        (TEXTS, Limits(), Failure(404, "model_not_found"), "the model does not answer"),
    ],
)
async def test_a_judge_that_cannot_be_asked_leaves_open_whose_change_it_is(
    stage: Stage, texts: dict[str, str], limits: Limits, reply: Any, why: str
) -> None:
    assert stage.services
    stage.services.limits = limits
    stage.model.script(reply)
    await drop(stage, **texts)
    await look(stage)
    (alert,) = stage.slack.workspace.channel(stage.ann.im).messages.values()
    assert alert.text.startswith("Scores of helper are lower: 2.5 since ")
    assert "asked again" not in alert.text
    assert f"The judge could not be asked again: {why}." in shown(alert)


async def test_whose_change_it_is_is_asked_again_the_day_after_if_it_was_left_open(
    stage: Stage,
) -> None:
    stage.model.script(Failure(404, "model_not_found"))
    await drop(stage)
    await look(stage)
    stage.model.script(worth())
    await look(stage, DAY)
    await look(stage, 2 * DAY)
    first, second = direct(stage, "ann")
    assert first.startswith("Scores of helper are lower")
    assert second.startswith("helper has become worse")


async def test_answers_that_are_the_old_ones_to_the_last_word_tell_nothing(stage: Stage) -> None:
    stage.model.script(worth())
    await drop(stage)
    same = {"justification": "As it is.", "mean": cases.c.score, "spread": 0.5}
    await stage.log.database.execute(update(cases).values(same))
    await look(stage)
    assert (await standing(stage)).why == "a cache gave the old answers"


async def test_a_change_says_what_has_changed_about_the_questions(stage: Stage) -> None:
    stage.model.script(worth())
    await drop(stage)
    longer = {"question": "Why on earth? " * 20, "messages_before": 2}
    await stage.log.database.execute(update(cases).where(cases.c.score < 4).values(longer))
    await look(stage)
    found = await standing(stage)
    assert found.whose is Whose.QUESTIONS
    assert found.questions == (
        "The questions have changed: length 280 characters, was 4 characters; follow-ups "
        "100%, was 0%."
    )


async def test_a_level_that_is_back_is_told(stage: Stage) -> None:
    stage.model.script(worth())
    await drop(stage)
    await look(stage)
    days = [(ago(number / 99 - day), 4 + number, 10) for day in range(6) for number in range(2)]
    await write_scores(stage, days, version_of(stage), **TEXTS)
    await look(stage, 7 * DAY)
    assert (await standing(stage)).event is Event.BACK
    assert "helper is back at its level" in direct(stage, "ann")[-1]


async def answered(stage: Stage, *names: str | None) -> None:
    """Writes ten replies of each of the last days, today's last, which these models answered for."""
    days = [(len(names) - 0.5 - day, 4, 10) for day in range(len(names))]
    await write_scores(stage, days, version_of(stage), **TEXTS)
    case_ids = await stage.log.database.values(select(cases.c.id).order_by(cases.c.id))
    rating = {
        "team_id": stage.slack.workspace.team_id,
        "position": 0,
        "score": 4,
        "model": "m",
        "justification": "",
        "raw": "",
    }
    written = [
        {**rating, "case_id": case_id, "served": names[place // 10]}
        for place, case_id in enumerate(case_ids)
    ]
    async with stage.log.database.engine.begin() as connection:
        await connection.execute(ratings.insert(), written)


async def test_another_model_that_answers_is_told_once(stage: Stage) -> None:
    await answered(stage, *["m-1"] * 7, "m-2")
    assert stage.services
    for new_models in (NewModels(stage.services), NewModels(stage.services)):
        await new_models.look()
    (said,) = direct(stage, "ann")
    assert "the provider now answers as `m-2`, was `m-1`." in said


@pytest.mark.parametrize(
    "names",
    [
        ["m-1", None] * 4,
        ["m-1", "m-2"] * 4,
        [f"m-{day}" for day in range(8)],
        [None] * 8,
        [*[None] * 7, "m-2"],
    ],
)
async def test_models_that_take_turns_or_are_not_named_are_no_change(
    stage: Stage, names: list[str | None]
) -> None:
    await answered(stage, *names)
    assert stage.services
    await NewModels(stage.services).look()
    assert direct(stage, "ann") == []
    assert await stage.log.database.values(select(releases.c.id)) == []
