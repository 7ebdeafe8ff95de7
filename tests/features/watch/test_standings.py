"""An assistant is looked at once a day; a change is stored, and told once."""

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, insert, select, update

from bot.domain.limits import Limits
from bot.domain.standing import Standing, Whose, subject_of
from bot.features.watch import ids
from bot.features.watch.new_models import NewModels
from bot.features.watch.standing_text import day_words, first_line
from bot.features.watch.standings import StandingLooks
from bot.store.schema import cases, ratings, spent, standings
from bot.store.standings import Standings
from judge.evaluation.blame import FEWEST
from judge.evaluation.standing import Direction, Event
from tests.features.watch.test_alerts import change, channel_id, direct
from tests.features.watch.watching import orders, say, told, until_noon, write_scores
from tests.gestures import its_digest
from tests.model_server import Failure, Held
from tests.stage import Stage, StageFactory, shown
from tests.watches import only

TEXTS = {"question": "Why?", "response": "Because, worth {}."}
DAY = timedelta(days=1)
ASKED = FEWEST + 1  # replies that the judge is asked about again: those of a day of the watch


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    """A watch that alerts ann, and a judge that gives each reply its old score again."""
    opened: Stage = await open_stage()
    await say(opened, f"@helper all {ASKED} a day alert me")
    opened.model.script(worth())
    return opened


async def look(stage: Stage, later: timedelta = timedelta()) -> None:
    """A look of another process, tomorrow at noon or so much later."""
    await StandingLooks(stage.services_at(until_noon() + later)).look()


async def standing(stage: Stage) -> Standing:
    found = await Standings(stage.log.database).of(subject_of(await only(stage)))
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
        return f"score: {int(found[1]) - less}\nAs it is." if found else "I do not know."

    return give


async def test_a_drop_is_told_once_remembered_and_told_when_it_is_over(stage: Stage) -> None:
    await change(stage, alerts_to=(channel_id(stage), stage.ann.id, stage.ben.id))
    await drop(stage)
    # One process asks, and stores the change of a day.
    await asyncio.gather(look(stage), look(stage))
    await look(stage, DAY)
    (alert,) = stage.ours()
    assert alert.text.startswith("helper has become worse: 2.5 since ")
    assert "Scored 0 to 2: 30 of 60 (50%) since then, 0 of 112 (0%) before." in shown(alert)
    row = next(block for block in alert.blocks if ids.ACTION_PAUSE in str(block))
    spoken = [element["accessibility_label"] for element in row["elements"]]
    assert spoken[-2:] == ["Mark a release, helper", "Not for a week, helper"]
    assert direct(stage, "ann") == direct(stage, "ben") == [alert.text]
    assert len(stage.model.requests) == ASKED
    found = await standing(stage)
    assert (found.direction, found.whose) == (Direction.LOWER, Whose.ASSISTANT)
    assert found.looked_at.date() > found.stored_at.date()
    assert len(await rows(stage)) == 1
    days = [(ago(number / 99 - day), 4 + number, 10) for day in range(6) for number in range(2)]
    await write_scores(stage, days, version_of(stage), **TEXTS)
    await look(stage, 7 * DAY)
    assert "helper is back at its level" in direct(stage, "ann")[-1]


@pytest.mark.needs("digest")
async def test_the_model_is_asked_once_for_causes_before_a_drop_is_told(stage: Stage) -> None:
    def give(request: dict[str, Any]) -> str:
        is_sorting = "No steps." in str(request["messages"])
        return "no steps: 1-30" if is_sorting else str(worth()(request))

    stage.model.script(give)
    await change(stage, alerts_to=(stage.ann.id, stage.ben.id))
    await drop(stage, justification="No steps.", **TEXTS)
    await look(stage)
    await look(stage, DAY)
    (alert,) = told(stage)
    assert "Most often: *no steps* (30 of 30 low replies in the last 7 days)" in shown(alert)
    assert "30 replies alike, such as to “Why?”\n“No steps.”" in shown(alert)
    assert len(stage.model.requests) == ASKED + 1


async def begin_next(stage: Stage, event: Event, direction: Direction) -> None:
    """Stores a change that follows on the standing, to be told; and looks."""
    found = await standing(stage)
    changes = {"event": event, "direction": direction, "is_to_tell": True, "told_at": None}
    await Standings(stage.log.database).begin(replace(found, follows=found.id, **changes))
    await look(stage)


async def test_not_for_a_week_stops_a_further_drop_and_no_better_news(stage: Stage) -> None:
    await change(stage, alerts_to=(channel_id(stage), stage.ann.id))
    await drop(stage)
    await look(stage)
    (alert,) = told(stage)
    stage.ann.click(alert, ids.ACTION_PAUSE)
    *_, notice = await stage.slack.until(lambda: told(stage)[1:])
    await begin_next(stage, Event.FURTHER, Direction.LOWER)
    assert len(told(stage)) == 2
    await begin_next(stage, Event.BACK, Direction.STEADY)
    assert len(told(stage)) == len(stage.ours()) == 3  # in the channel, nobody has said so
    stage.ann.click(notice, ids.ACTION_RESUME)
    await stage.slack.until(lambda: "has these alerts sent again" in notice.text)
    await begin_next(stage, Event.FURTHER, Direction.LOWER)
    assert len(told(stage)) == 4


async def test_a_standing_says_since_when_nothing_was_judged(stage: Stage) -> None:
    await write_scores(stage, [(ago(day), 4, 5) for day in range(1, 12)])
    day = (datetime.now(UTC) + until_noon() - DAY).date()
    for later, is_said in ((timedelta(), False), (5 * DAY, True)):
        await look(stage, later)
        line = first_line(await standing(stage), "helper")
        assert (f"(not judged since {day_words(day)})" in line) is is_said


async def test_a_change_that_was_stored_is_told_by_the_next_process(stage: Stage) -> None:
    await change(stage, alerts_to=())
    await drop(stage)
    await look(stage)
    await change(stage, alerts_to=(stage.ann.id,))
    # As a process left it that ended before it told anybody.
    await stage.log.database.execute(update(standings).values(is_to_tell=True, told_at=None))
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


async def test_two_judges_do_not_take_turns_and_another_one_is_told(stage: Stage) -> None:
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


async def watch_too(stage: Stage, name: str, nth: int, *, is_private: bool = False) -> None:
    """Another watch of the assistant, in a channel that has each nth of its scores."""
    first, *_ = await stage.log.watches.of(stage.slack.workspace.team_id)
    other = replace(first, channel_id=name, is_private=is_private)
    await orders(stage).save(other, stage.ann.id)
    its = update(cases).where(cases.c.id % nth == 0)
    await stage.log.database.execute(its.values(channel_id=name))


@pytest.mark.parametrize(("is_private", "numbers"), [(False, {"": 40}), (True, {"": 20, "C9": 20})])
async def test_public_channels_are_one_series_and_a_private_one_is_its_own(
    stage: Stage, is_private: bool, numbers: dict[str, int]
) -> None:
    await write_scores(stage, [(ago(day), 4, 2) for day in range(1, 21)], version_of(stage))
    await watch_too(stage, "C9", 2, is_private=is_private)
    await look(stage)
    found = await Standings(stage.log.database).of_team(stage.slack.workspace.team_id)
    assert {subject.channel_id: row.n for subject, row in found.items()} == numbers


async def test_a_change_is_told_without_replies_of_others_channels(stage: Stage) -> None:
    await drop(stage)
    await watch_too(stage, "C-OTHER", 1)
    await look(stage)
    (alert,) = told(stage)
    assert "<#C-OTHER>" in shown(alert)
    assert "Score 2 of 5" not in shown(alert)


async def test_a_change_is_told_without_slacks_word_on_channels(stage: Stage) -> None:
    await drop(stage)
    services = stage.services_at(until_noon())
    await services.memberships.of()
    stage.slack.fail("users.conversations", error="missing_scope")
    await StandingLooks(services).look()
    (alert,) = told(stage)
    assert "Score 2 of 5" not in shown(alert)


async def test_a_drop_that_is_the_judges_begins_another_judge(stage: Stage) -> None:
    stage.model.script(worth(1))
    await drop(stage, fallen=1)
    await look(stage)
    (said,) = direct(stage, "ann")
    assert said.startswith("The judge has become stricter since ")
    found = await standing(stage)
    begun = datetime.now(UTC) + until_noon() - 2 * DAY
    assert found.direction is Direction.TOO_FEW
    assert found.version == f"{version_of(stage)}, since {begun:%Y-%m-%d}"
    later = select(func.count()).where(cases.c.judge_version == found.version)
    assert await stage.log.database.value(later) == 60
    assert len(await stage.log.database.values(select(spent.c.id))) >= ASKED
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
    assert (await standing(stage)).asked < ASKED


@pytest.mark.parametrize("wakes", [False, True])
async def test_a_look_whose_process_ends_or_stalls_is_taken_over(stage: Stage, wakes: bool) -> None:
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
    ("texts", "limits", "why"),
    [
        ({"question": "Why?"}, Limits(), f"fewer than {FEWEST} replies with texts"),
        (TEXTS, Limits(cases_per_day=1), "a daily limit is used up"),
    ],
)
async def test_a_judge_that_cannot_be_asked_leaves_open_whose_change_it_is(
    stage: Stage, texts: dict[str, str], limits: Limits, why: str
) -> None:
    stage.services.limits = limits
    await drop(stage, **texts)
    await look(stage)
    (alert,) = told(stage)
    assert alert.text.startswith("Scores of helper are lower: 2.5 since ")
    assert "asked again" not in alert.text
    assert f"The judge could not be asked again: {why}." in shown(alert)


async def test_whose_change_was_left_open_is_asked_again_the_day_after(stage: Stage) -> None:
    stage.model.script(Failure(404, "model_not_found"))
    await drop(stage)
    await look(stage)
    stage.model.script(worth())
    await look(stage, DAY)
    await look(stage, 2 * DAY)
    first, second = told(stage)
    assert first.text.startswith("Scores of helper are lower")
    assert "The judge could not be asked again: the model does not answer." in shown(first)
    assert second.text.startswith("helper has become worse")


async def test_answers_that_are_the_old_ones_to_the_last_word_tell_nothing(stage: Stage) -> None:
    await drop(stage)
    same = {"justification": "As it is.", "mean": cases.c.score, "spread": 0.5}
    await stage.log.database.execute(update(cases).values(same))
    await look(stage)
    assert (await standing(stage)).why == "a cache gave the old answers"


async def test_a_change_says_what_has_changed_about_the_questions(stage: Stage) -> None:
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


async def answered(stage: Stage, *names: str | None) -> None:
    """Writes ten replies of each of the last days, today's last, which these models answered for."""
    days = [(len(names) - 0.5 - day, 4, 10) for day in range(len(names))]
    await write_scores(stage, days)
    rating = {"position": 0, "score": 4, "model": "m", "justification": "", "raw": ""}
    rating["team_id"] = stage.slack.workspace.team_id
    numbers = await stage.log.database.values(select(cases.c.id).order_by(cases.c.id))
    written = [
        rating | {"case_id": number, "served": names[place // 10]}
        for place, number in enumerate(numbers)
    ]
    await stage.log.database.execute(insert(ratings).values(written))


async def test_another_model_that_answers_is_told_once_of_all_channels(stage: Stage) -> None:
    await answered(stage, *["m-1"] * 14, "m-2")
    await change(stage, is_private=False)
    await watch_too(stage, "C-PUBLIC", 2)
    for _ in range(2):
        await NewModels(stage.services).look()
    (notice,) = told(stage)
    assert "the provider now answers as `m-2`, was `m-1`." in notice.text
    assert "<#C-PUBLIC>" in shown(notice)


@pytest.mark.parametrize(
    "names",
    [
        ["m-1", "m-2"] * 4,
        [f"m-{day}" for day in range(8)],
        [*["m-1"] * 7, None],
        [*[None] * 7, "m-2"],
    ],
)
async def test_models_that_take_turns_or_are_not_named_are_no_change(
    stage: Stage, names: list[str | None]
) -> None:
    await answered(stage, *names)
    await NewModels(stage.services).look()
    assert told(stage) == []
