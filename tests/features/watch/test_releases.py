"""Releases: marked by command, button or a deployment, compared once with the time before, listed
and taken back.
"""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from bot.commands.in_channel import release
from bot.errors import BotError
from bot.features.watch import ids
from bot.features.watch.release_looks import ReleaseLooks
from bot.features.watch.release_text import NO_DAY, NO_NUMBER, NO_RELEASE
from bot.features.watch.standing_text import day_words
from bot.slack.ids import COMMAND
from bot.store.schema import releases, standings
from bot.store.standings import Standings
from judge.evaluation.standing import Direction
from tests.features.watch.test_alerts import direct
from tests.features.watch.test_standings import ASKED, TEXTS, ago, look, standing, version_of, worth
from tests.features.watch.watching import only, orders, say, told, until_noon, write_scores
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
    for person in (stage.ann, stage.ben):
        (effect,) = [each for each in told(stage, person) if "what release 1 has" in shown(each)]
        since = f"4.5 since the release of {day_of(7)}"
        assert effect.text.startswith(f"helper has become better: {since}, was 2.5.")
    assert len(stage.model.requests) <= ASKED  # for the standing, too, the judge was asked once
    listed = await judge(stage, "release list @helper")
    assert "`@nobody` is not watched" in await judge(stage, "release list @nobody")
    assert "• release 1 of helper, " in listed
    assert ", “new &lt;prompt&gt;”, by <@" in listed
    assert f"*helper* has become better: {since}" in listed
    figures = await judge(stage, "stats")
    assert f"*helper* is still better: {since}" in figures
    assert "prompt" not in figures


async def test_a_release_that_has_clearly_changed_nothing_is_told_as_that(stage: Stage) -> None:
    await mark(stage, 7)
    await scores(stage, 2, 2)
    await compare(stage)
    (said,) = direct(stage, "ben")
    effect = f"2.5 since the release of {day_of(7)}, was 2.5; the difference is likely between"
    assert said.startswith(f"helper has not clearly changed: {effect}")


async def test_a_change_of_the_judge_with_a_release_is_not_the_assistants(stage: Stage) -> None:
    stage.model.script(worth(1))
    await mark(stage, 7)
    await scores(stage, 2, 1)
    await ReleaseLooks(stage.services_at(until_noon())).look()
    await look(stage)
    (said,) = direct(stage, "ben")
    expected = f"The judge has become stricter since the release of {day_of(7)}; helper has not"
    assert said.startswith(expected)
    assert (await standing(stage)).direction is Direction.TOO_FEW


async def test_a_comparison_whose_process_ends_while_it_asks_is_taken_over(stage: Stage) -> None:
    await mark(stage, 7)
    await scores(stage, 2, 4)
    stage.model.script(Held(asyncio.Event(), ""))
    looking = asyncio.create_task(ReleaseLooks(stage.services_at(until_noon())).look())
    await stage.model.asked(1)
    looking.cancel()
    await asyncio.gather(looking, return_exceptions=True)
    stage.model.script(worth())
    await ReleaseLooks(stage.services_at(until_noon())).look()
    of_release = select(standings.c.id).where(standings.c.release_id == 1)
    assert await stage.log.database.values(of_release) == []  # the other may still be asking
    for _ in range(2):
        await compare(stage, timedelta(minutes=16))
    assert len(direct(stage, "ben")) == 1


async def test_another_mark_ends_a_comparison_with_what_it_has(stage: Stage) -> None:
    await mark(stage, 5)
    await scores(stage, 2, 4, release_ago=5)
    said = await mark(stage, 3)
    assert f"The release of {day_of(5)} is being compared; this mark ends that" in said
    await ReleaseLooks(stage.services_at(until_noon())).look()
    effects = await Standings(stage.log.database).of_releases([1, 2])
    (first,) = effects.values()
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
    announcing = ReleaseLooks(stage.services_at(timedelta()))
    await asyncio.gather(announcing.look(), announcing.look())
    (notice,) = told(stage)
    assert notice.text.startswith(f"<@{stage.ben.id}> marked release 1 of helper, ")
    assert direct(stage, "ben") == []
    stage.ann.click(notice, ids.ACTION_UNDO_RELEASE)
    await stage.slack.until(lambda: "took back release 1 of helper" in notice.text)
    assert "<@" in await judge(stage, "release undo 1")
    assert await judge(stage, "release undo") == NO_NUMBER
    assert await judge(stage, "release undo 2") == NO_RELEASE
    await announcing.look()
    await announcing.look()
    (undone,) = direct(stage, "ben")
    assert "took back release 1 of helper" in undone
    assert len(told(stage)) == 1
    assert "No release" in await judge(stage, "release")


@pytest.mark.parametrize(("after", "number"), [(4, 1), (2, 0)])
async def test_with_few_scores_only_a_plain_change_is_told_after_a_week(
    stage: Stage, after: int, number: int
) -> None:
    await mark(stage, 7)
    days = [
        (ago(day + place / 99), (2 if day > 7 else after) + place - 1, 1)
        for day in range(1, 36)
        for place in (0, 2)
    ]
    await write_scores(stage, days, version_of(stage), **TEXTS)
    await ReleaseLooks(stage.services_at(until_noon())).look()
    assert len(await Standings(stage.log.database).of_releases([1])) == number


async def test_the_answer_says_when_it_will_be_known_and_in_which_channels(stage: Stage) -> None:
    watch = await only(stage)
    days = [
        (ago(day + number / 99), 3 + (-1) ** number, 5) for day in range(1, 41) for number in (0, 1)
    ]
    await write_scores(stage, days, version_of(stage))
    for name, is_private in (("C-PUBLIC", False), ("C-PRIVATE", True)):
        other = replace(watch, channel_id=name, is_private=is_private)
        await orders(stage).save(other, stage.ann.id)
    said = await judge(stage, "release @helper faster")
    due = datetime.now(UTC) + 7 * DAY
    assert f"At this pace I tell what has changed on about {due.day} {due:%b}." in said
    assert "<#C-PUBLIC>" in said
    assert "<#C-PRIVATE>" not in said


async def test_a_button_on_the_watch_asks_for_a_note_and_says_what_still_runs(stage: Stage) -> None:
    await mark(stage, 1)
    await judge(stage, "watch")
    listed, *_ = stage.ben.ephemerals(CHANNEL)[::-1]
    before = len(stage.ben.ephemerals(CHANNEL))
    stage.ben.click(listed, ids.ACTION_RELEASE)
    window = await stage.modal(stage.ben)
    await stage.slack.until(lambda: "is being compared; another mark" in shown(window))
    tomorrow = datetime.now(UTC).date() + 2 * DAY
    refused = await stage.slack.settled(stage.ben.submit({ids.BLOCK_DAY: f"{tomorrow}"}))
    assert refused.response == {"response_action": "errors", "errors": {ids.BLOCK_DAY: NO_DAY}}
    earlier = datetime.now(UTC).date() - 3 * DAY
    await stage.fill_in(stage.ben, {ids.BLOCK_NOTE: "version 7", ids.BLOCK_DAY: f"{earlier}"})
    said = shown(await stage.told(stage.ben, before + 1))
    assert "The release “version 7” of *helper* is marked" in said
    listed_now = await judge(stage, "release list")
    assert f"release 2 of helper, {day_words(earlier)}, “version 7”, by <@" in listed_now


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
