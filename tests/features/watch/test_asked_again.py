"""Before a change is told, the judge is asked again about older replies, to tell who has changed."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from bot.features.watch.changes import NewModels
from sqlalchemy import func, select, update

from bot.domain.case import CaseStatus
from bot.domain.limits import Limits
from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from bot.store.schema import cases, ratings, releases, spent
from judge.evaluation.blame import FEWEST
from tests.features.watch.test_alerts import direct
from tests.features.watch.test_releases import judge
from tests.features.watch.watching import alarm, say, seen, take_finished, until_noon, write_scores
from tests.model_server import Failure, Held
from tests.stage import GOOD, Stage, StageFactory

TEXTS = {"question": "Why?", "response": "Because, worth {}."}
OF_JUDGE, OPEN = "this drop is the judge's", "Whether the judge changed cannot be told: "


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage(
        manifest=load_manifest(parts=[MESSAGE_EVENTS]), watch_by="events"
    )
    await say(opened, "@helper all alert me")
    return opened


async def drop(stage: Stage, **texts: str) -> None:
    """Writes 60 good scores of the four weeks before, and a week of bad ones."""
    before = [(10 + number / 3, 4 + number % 2, 1) for number in range(60)]
    after = [(0.1 * hour, 3 + hour % 2, 3) for hour in range(20)]
    await write_scores(stage, before + after, version_of(stage), **(texts or TEXTS))


async def told(stage: Stage) -> str:
    """What ann is told once in a direct message, by this look or by one of the app's own."""
    await alarm(stage)
    await stage.slack.until(lambda: direct(stage, "ann"))
    (text,) = direct(stage, "ann")
    return text


def version_of(stage: Stage) -> str:
    assert stage.services
    assert stage.services.judges
    return stage.services.judges.default.version


def worth(less: int = 0) -> Any:
    """A judge that gives each reply the score that it was given, or so much less."""

    def give(request: dict[str, Any]) -> str:
        found = re.search(r"worth (\d)", str(request["messages"]))
        assert found
        return f"score: {int(found[1]) - less}\nAs it is."

    return give


async def test_a_drop_that_is_the_judges_is_told_so_and_begins_another_judge(stage: Stage) -> None:
    stage.model.script(worth(1))
    await drop(stage)
    said = await told(stage)
    assert (
        "Asked again about 60 older replies: the judge itself gives 1.0 less (1.0 to 1.0) "
        "than it gave"
    ) in said
    assert OF_JUDGE in said
    later = f"{version_of(stage)}, since {datetime.now(UTC) - timedelta(days=1.9):%Y-%m-%d}"
    counts = select(cases.c.judge_version, func.count()).group_by(cases.c.judge_version)
    rows = await stage.log.database.all(counts)
    assert {tuple(row) for row in rows} == {(version_of(stage), 60), (later, 60)}
    assert len(await stage.log.database.values(select(spent.c.id))) >= 60
    await alarm(stage, timedelta(days=8))
    assert direct(stage, "ann") == [said]


async def test_what_is_scored_later_is_of_the_later_judge(stage: Stage) -> None:
    stage.model.script(worth(1))
    await drop(stage)
    await told(stage)
    stage.model.script(GOOD)
    stage.ask_and_answer()
    await seen(stage, 1)
    await take_finished(stage)
    await stage.reaches(121, CaseStatus.DELIVERED)
    newest = select(cases.c.judge_version).where(cases.c.id == 121)
    assert (await stage.log.database.value(newest)).startswith(f"{version_of(stage)}, since ")
    assert "• change of the judge of helper, " in await judge(stage, "release list")
    assert "There is no such release" in await judge(stage, "release undo 1")


async def test_a_drop_that_is_the_assistants_says_that_the_judge_gives_the_same(
    stage: Stage,
) -> None:
    stage.model.script(worth())
    await drop(stage)
    assert (
        "Asked again about 60 older replies: the judge gives the same (-0.0 to 0.0)."
        in await told(stage)
    )
    assert await stage.log.database.values(select(releases.c.id)) == []


async def test_what_is_forgotten_or_edited_meanwhile_leaves_the_sample(stage: Stage) -> None:
    gate = asyncio.Event()
    stage.model.script(Held(gate, "score: 4\nGood."))
    await drop(stage)
    before = await stage.log.database.values(select(cases.c.id).order_by(cases.c.id).limit(15))
    telling = asyncio.create_task(alarm(stage))
    await stage.model.asked(1)
    await stage.log.forgetting.forget(before[:10], "U1")
    edited = update(cases).where(cases.c.id.in_(before[10:])).values(edited_at=datetime.now(UTC))
    await stage.log.database.execute(edited)
    gate.set()
    await telling
    assert "Asked again about 45 older replies" in await told(stage)


async def test_an_alarm_whose_process_ends_meanwhile_is_told_once_by_the_next(stage: Stage) -> None:
    stage.model.script(Held(asyncio.Event(), ""))
    await drop(stage)
    telling = asyncio.create_task(alarm(stage))
    await stage.model.asked(1)
    telling.cancel()
    await asyncio.gather(telling, return_exceptions=True)
    stage.model.script(worth(1))
    await alarm(stage)
    assert direct(stage, "ann") == []  # it may still be asking
    await alarm(stage, timedelta(minutes=18))
    assert OF_JUDGE in await told(stage)


async def test_what_a_process_finds_too_late_begins_no_other_judge(stage: Stage) -> None:
    gate = asyncio.Event()
    stage.model.script(Held(gate, "score: 1\nIt is short."))
    await drop(stage)
    noon = until_noon()
    slow = asyncio.create_task(alarm(stage, noon))
    await stage.model.asked(4)  # all that it asks at once
    stage.model.script(worth())
    await alarm(stage, noon + timedelta(minutes=18))
    assert "the judge gives the same" in direct(stage, "ann")[0]
    stage.model.script(worth(1))
    gate.set()
    await slow
    assert len(direct(stage, "ann")) == 1
    assert await stage.log.database.values(select(releases.c.id)) == []


async def answered(stage: Stage, *names: str | None) -> None:
    """Writes ten replies of each of the last days, today's last, which these models answered for."""
    days = [(len(names) - 0.5 - day, 4, 10) for day in range(len(names))]
    await write_scores(stage, days, version_of(stage), **TEXTS)
    its = await stage.log.database.values(select(cases.c.id).order_by(cases.c.id))
    rows = [
        {
            "team_id": stage.slack.workspace.team_id,
            "case_id": number,
            "position": 0,
            "score": 4,
            "model": "m",
        }
        | {
            "justification": "",
            "raw": "",
            "served": f"{names[at // 10]}" if names[at // 10] else None,
        }
        for at, number in enumerate(its)
    ]
    async with stage.log.database.engine.begin() as connection:
        await connection.execute(ratings.insert(), rows)


async def test_another_model_that_answers_is_told_once_with_what_asking_again_found(
    stage: Stage,
) -> None:
    stage.model.script("score: 3\nKinder days are over.")
    await answered(stage, *["m-1"] * 7, "m-2")
    assert stage.services
    looks = NewModels(stage.services), NewModels(stage.services)
    for each in looks:
        await each.look()
    await stage.slack.until(lambda: direct(stage, "ann"))
    (said,) = direct(stage, "ann")
    assert "the provider now answers as `m-2`, was `m-1`." in said
    assert "Asked again about 60 older replies: the judge itself gives 1.0 less" in said


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


async def test_an_alarm_says_what_has_changed_about_the_questions(stage: Stage) -> None:
    await drop(stage, question="Why?")
    longer = update(cases).where(cases.c.id > 60)
    await stage.log.database.execute(
        longer.values(question="Why on earth? " * 20, messages_before=2)
    )
    said = await told(stage)
    assert (
        "The questions have changed: length 280 characters, was 4 characters; follow-ups "
        "100%, was 0%."
    ) in said


@pytest.mark.parametrize(
    ("texts", "limits", "reply", "why"),
    [
        ({"question": "Why?"}, Limits(), worth(1), f"fewer than {FEWEST} replies with texts"),
        (TEXTS, Limits(tokens_per_day=1), worth(1), "a daily limit is used up"),
        (TEXTS, Limits(), Failure(404, "model_not_found"), "the model does not answer"),
    ],
)
async def test_an_alarm_says_why_it_cannot_tell_who_changed(
    stage: Stage, texts: dict[str, str], limits: Limits, reply: Any, why: str
) -> None:
    assert stage.services
    stage.services.limits = limits
    stage.model.script(reply)
    await drop(stage, **texts)
    assert f"{OPEN}{why}." in await told(stage)


async def test_answers_that_are_the_old_ones_to_the_last_word_tell_nothing(stage: Stage) -> None:
    stage.model.script(worth())
    await drop(stage)
    same = {"justification": "As it is.", "mean": cases.c.score, "spread": 0.5}
    await stage.log.database.execute(update(cases).values(same))
    assert f"{OPEN}a cache gave the old answers." in await told(stage)
