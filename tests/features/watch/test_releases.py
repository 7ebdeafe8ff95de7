"""Releases: marked by command, button or a deployment, compared once with the time before, listed
and taken back.
"""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from bot.commands.in_channel import release
from bot.domain.standing import Standing
from bot.errors import BotError
from bot.features.watch import ids
from bot.features.watch.release_looks import ReleaseLooks
from bot.features.watch.release_text import NO_DAY, NO_NUMBER, NO_RELEASE
from bot.features.watch.standing_queries import StandingSteps
from bot.features.watch.standing_text import day_words
from bot.slack.ids import COMMAND
from bot.store.schema import releases
from judge.evaluation.standing import Direction
from tests.features.watch.test_alerts import direct
from tests.features.watch.test_standings import (
    ASKED,
    TEXTS,
    ago,
    look,
    standing,
    version_of,
    watch_too,
    worth,
)
from tests.features.watch.watching import say, told, until_noon, write_scores
from tests.model_server import Held
from tests.stage import CHANNEL, Stage, StageFactory, shown

DAY = timedelta(days=1)


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage()
    await say(opened, f"@helper all {ASKED} a day alert me")
    opened.model.script(worth())
    return opened


async def judge(stage: Stage, text: str) -> str:
    """What ben is told after `/judge ...`."""
    before = len(stage.ben.ephemerals(CHANNEL))
    stage.ben.command(CHANNEL, COMMAND, text)
    return shown(await stage.told(stage.ben, before + 1))


async def mark(stage: Stage, days_ago: float = 0) -> str:
    """Marks a release so long before tomorrow's noon."""
    said = await judge(stage, "release @helper new <prompt>")
    at = datetime.now(UTC) - timedelta(days=ago(days_ago + 0.05))
    newest = select(releases.c.id).order_by(releases.c.id.desc()).limit(1).scalar_subquery()
    its = update(releases).where(releases.c.id == newest)
    await stage.log.database.execute(its.values(set_at=at, day=at.date()))
    return said


async def compare(stage: Stage, later: timedelta = timedelta()) -> None:
    """Both looks of another process, tomorrow at noon or so much later."""
    await ReleaseLooks(stage.services_at(until_noon() + later)).look()
    await look(stage, later)


async def scores(stage: Stage, before: int, after: int, release_ago: int = 7) -> None:
    """Writes scores of four weeks before a release, and those since then."""
    days = [
        (ago(day + number / 99), (before if day > release_ago else after) + number, 8)
        for day in range(1, release_ago + 29)
        for number in range(2)
    ]
    await write_scores(stage, days, version_of(stage), **TEXTS)


def day_of(days_ago: float) -> str:
    """The day of tomorrow's noon, so many days before."""
    day = datetime.now(UTC) - timedelta(days=ago(days_ago))
    return f"{day.day} {day:%b}"


@pytest.mark.needs("digest")
async def test_what_a_release_has_changed_is_told_once_listed_and_counted(stage: Stage) -> None:
    await mark(stage, 7)
    await scores(stage, 2, 4)
    await look(stage)
    for later in (timedelta(), timedelta(minutes=1), DAY):
        await compare(stage, later)
    since = f"4.5 since the release of {day_of(7)}"
    for person in (stage.ann, stage.ben):
        (effect,) = [each for each in told(stage, person) if "what release 1 has" in shown(each)]
        assert effect.text.startswith(f"helper has become better: {since}, was 2.5.")
    assert len(stage.model.requests) <= ASKED  # for the standing, too, the judge was asked once
    listed = await judge(stage, "release list @helper")
    assert "• release 1 of helper, " in listed
    assert ", “new &lt;prompt&gt;”, by <@" in listed
    assert f"*helper* has become better: {since}" in listed
    assert "`@nobody` is not watched" in await judge(stage, "release list @nobody")
    assert f"*helper* is still better: {since}" in await judge(stage, "stats")


async def test_a_release_that_has_clearly_changed_nothing_is_told_as_that(stage: Stage) -> None:
    await mark(stage, 7)
    await scores(stage, 2, 2)
    await compare(stage)
    (said,) = direct(stage, "ben")
    assert said.startswith(f"helper has not clearly changed: 2.5 since the release of {day_of(7)}")


async def test_a_change_of_the_judge_with_a_release_is_not_the_assistants(stage: Stage) -> None:
    stage.model.script(worth(1))
    await mark(stage, 7)
    await scores(stage, 2, 1)
    await compare(stage)
    (said,) = direct(stage, "ben")
    expected = f"The judge has become stricter since the release of {day_of(7)}; helper has not"
    assert said.startswith(expected)
    assert (await standing(stage)).direction is Direction.TOO_FEW


async def effects(stage: Stage) -> list[Standing]:
    """What is known of the first two releases."""
    return [*(await StandingSteps(stage.log.database).of_releases([1, 2])).values()]


async def test_a_comparison_whose_process_ends_while_it_asks_is_taken_over(stage: Stage) -> None:
    await mark(stage, 7)
    await scores(stage, 2, 4)
    stage.model.script(Held(asyncio.Event(), ""))
    looking = asyncio.create_task(compare(stage))
    await stage.model.asked(1)
    looking.cancel()
    await asyncio.gather(looking, return_exceptions=True)
    stage.model.script(worth())
    await ReleaseLooks(stage.services_at(until_noon())).look()
    assert await effects(stage) == []  # the other may still be asking
    for _ in range(2):
        await compare(stage, timedelta(minutes=16))
    assert len(direct(stage, "ben")) == 1


async def test_another_mark_ends_a_comparison_with_what_it_has(stage: Stage) -> None:
    await mark(stage, 5)
    await scores(stage, 2, 4, release_ago=5)
    said = await mark(stage, 3)
    assert f"The release of {day_of(5)} is being compared; this mark ends that" in said
    await compare(stage)
    (first,) = await effects(stage)
    assert (first.release_id, first.direction, first.n) == (1, Direction.HIGHER, 2 * 16)


async def test_with_too_few_scores_no_change_is_promised(stage: Stage) -> None:
    await mark(stage, 3)
    await mark(stage, 2)
    await compare(stage)
    (said,) = [post for post in told(stage) if "too few scores to compare" in post.text]
    assert "what release 1 has changed" not in shown(said)
    assert "Release 1 was marked in <#" in shown(said)


async def test_who_hears_of_the_watch_hears_of_the_mark_and_can_undo_it_once(stage: Stage) -> None:
    await mark(stage)
    announcing = ReleaseLooks(stage.services)
    await asyncio.gather(announcing.look(), announcing.look())
    (notice,) = told(stage)
    assert notice.text.startswith(f"<@{stage.ben.id}> marked release 1 of helper, ")
    assert direct(stage, "ben") == []
    stage.ann.click(notice, ids.ACTION_UNDO_RELEASE)
    await stage.slack.until(lambda: "took back release 1 of helper" in notice.text)
    assert f"<@{stage.ann.id}> took back" in await judge(stage, "release undo 1")
    assert await judge(stage, "release undo") == NO_NUMBER
    assert await judge(stage, "release undo 2") == NO_RELEASE
    for _ in range(2):
        await announcing.look()
    (undone,) = direct(stage, "ben")
    assert "took back release 1 of helper" in undone
    assert len(told(stage)) == 1


@pytest.mark.parametrize(("after", "number"), [(4, 1), (2, 0)])
async def test_with_few_scores_only_a_plain_change_is_told_after_a_week(
    stage: Stage, after: int, number: int
) -> None:
    await mark(stage, 7)
    days = [(ago(day), 2 if day > 7 else after) for day in range(1, 36)]
    around = [(day + more / 99, score + more - 1, 1) for day, score in days for more in (0, 2)]
    await write_scores(stage, around, version_of(stage), **TEXTS)
    await compare(stage)
    assert len(await effects(stage)) == number


async def test_the_answer_says_when_it_will_be_known_and_in_which_channels(stage: Stage) -> None:
    days = [(ago(day + more / 99), 2 + more, 5) for day in range(1, 41) for more in (0, 2)]
    await write_scores(stage, days, version_of(stage))
    await watch_too(stage, "C-PUBLIC", 2)
    await watch_too(stage, "C-PRIVATE", 10**6, is_private=True)
    said = await judge(stage, "release @helper faster")
    due = datetime.now(UTC) + 7 * DAY
    assert f"At this pace I tell what has changed on about {day_words(due)}." in said
    assert "<#C-PUBLIC>" in said
    assert "<#C-PRIVATE>" not in said


async def test_a_button_on_the_watch_asks_for_a_note_and_says_what_still_runs(stage: Stage) -> None:
    await mark(stage, 1)
    stage.ben.command(CHANNEL, COMMAND, "watch")
    stage.ben.click(await stage.told(stage.ben, 2), ids.ACTION_RELEASE)
    window = await stage.modal(stage.ben)
    await stage.slack.until(lambda: "is being compared; another mark" in shown(window))
    today = datetime.now(UTC).date()
    refused = await stage.slack.settled(stage.ben.submit({ids.BLOCK_DAY: f"{today + 2 * DAY}"}))
    assert refused.response == {"response_action": "errors", "errors": {ids.BLOCK_DAY: NO_DAY}}
    earlier = today - 3 * DAY
    await stage.fill_in(stage.ben, {ids.BLOCK_NOTE: "version 7", ids.BLOCK_DAY: f"{earlier}"})
    assert "The release “version 7” of *helper*" in shown(await stage.told(stage.ben, 3))
    listed = await judge(stage, "release list")
    assert f"release 2 of helper, {day_words(earlier)}, “version 7”, by <@" in listed


async def test_a_deployment_marks_a_release_by_the_command(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = stage.services.settings
    await release(settings, f"#{CHANNEL}", "@helper", "version 7")
    said = capsys.readouterr().out
    assert "The release “version 7” of helper is marked" in said
    with pytest.raises(BotError, match="SLACK_BOT_TOKEN is for another workspace"):
        await release(settings, f"T9/{CHANNEL}", "@helper", "version 7")
    with pytest.raises(BotError, match="`@nobody` is not watched in this channel"):
        await release(settings, f"#{CHANNEL}", "@nobody", "version 7")
    assert "by `os:" in await judge(stage, "release list")
