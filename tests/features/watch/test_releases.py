"""Releases: marked by command or by a deployment, compared once with the time before, listed and
taken back.
"""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, literal, select, update

from bot.commands.in_channel import release
from bot.errors import BotError
from bot.features.watch import ids
from bot.features.watch.releases import tell_releases
from bot.slack.ids import COMMAND
from bot.store.schema import UtcDateTime, cases, labels, releases
from tests.features.watch.test_alerts import direct
from tests.features.watch.watching import say, write_scores
from tests.stage import CHANNEL, Stage, StageFactory, shown


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage()
    await say(opened, "@helper all alert me")
    return opened


async def judge(stage: Stage, text: str) -> str:
    """What ben is told after `/judge ...`."""
    before = len(stage.ben.ephemerals(CHANNEL))
    stage.ben.command(CHANNEL, COMMAND, text)
    return shown(await stage.told(stage.ben, before + 1))


async def mark(stage: Stage, days_ago: float = 0) -> str:
    said = await judge(stage, "release @helper new <prompt>")
    at = datetime.now(UTC) - timedelta(days=days_ago)
    await stage.log.database.execute(update(releases).values(set_at=at))
    return said


@pytest.mark.parametrize(
    ("after", "told"),
    [
        (4, "helper in <#{}> got better with its release: mean 4.5, was 2.5 (up 1.3 to 2.2)."),
        (1, "helper in <#{}> got worse with its release: mean 1.5, was 2.5 (down 0.5 to 1.3)."),
        (
            2,
            (
                "helper in <#{}> has not clearly changed with its release: mean 2.5, was 2.5 "
                "(-0.4 to +0.4)."
            ),
        ),
    ],
)
async def test_once_enough_is_scored_all_are_told_once(stage: Stage, after: int, told: str) -> None:
    days = [(9 + 0.2 * hour, 2 + hour % 2, 2) for hour in range(20)]
    await write_scores(stage, days)
    assert "Once 20 replies from now on are scored" in await mark(stage, 8)
    for number in (10, 9):
        await tell_releases(stage.services_at(timedelta()))
        assert direct(stage, "ann") == direct(stage, "ben") == []
        await write_scores(
            stage, [(0.2 * number + 0.01 * hour, after + hour % 2, 1) for hour in range(number + 1)]
        )
    for _ in range(2):
        await tell_releases(stage.services_at(timedelta()))
    who = "Whether the judge changed cannot be told: another judge scores now."
    expected = f"{told.format(stage.slack.workspace.channel(CHANNEL).id)}\n{who}"
    assert direct(stage, "ann") == direct(stage, "ben") == [expected]


async def test_with_blind_labels_on_both_sides_a_release_is_compared_as_people_would(
    stage: Stage,
) -> None:
    await write_scores(stage, [(9 + 0.1 * hour, 2 + hour % 2, 1) for hour in range(30)])
    await mark(stage, 8)
    await write_scores(
        stage, [(0.1 + 0.1 * hour, 4 + hour % 2, 1) for hour in range(30)]
    )  # a kinder judge
    database, now = stage.log.database, datetime.now(UTC)
    values = {"user_id": literal("U9"), "score": literal(3), "is_blind": literal(True)}
    values |= {each: literal(now, UtcDateTime) for each in ("created_at", "updated_at")}
    values |= {each: cases.c[each] for each in ("team_id", "channel_id")} | {"case_id": cases.c.id}
    await database.execute(insert(labels).from_select(list(values), select(*values.values())))
    await tell_releases(stage.services_at(timedelta()))
    (told,) = stage.slack.workspace.channel(stage.ann.im).messages.values()
    assert "not clearly changed with its release: mean 3.0, was 3.0" in told.text
    assert "Corrected by 60 blind labels: 30 random replies since release 1 of" in str(told.blocks)


async def test_releases_are_listed_and_stand_beside_the_trend(stage: Stage) -> None:
    await write_scores(stage, [(0.01, 4, 6)])
    await mark(stage, 0.005)
    listed, figures = await judge(stage, "release list"), await judge(stage, "stats")
    assert "• release 1 of helper, " in listed
    assert ", “new &lt;prompt&gt;”, by <@" in listed
    assert "In the trend: release 1 of helper, " in figures
    assert "prompt" not in figures
    await judge(stage, "release undo 1")
    assert "There is no such release" in await judge(stage, "release undo 1")
    assert "No release" in await judge(stage, "release")


async def test_a_button_on_the_watch_marks_a_release_like_the_command(stage: Stage) -> None:
    await judge(stage, "watch")
    (listed, *_), before = stage.ben.ephemerals(CHANNEL)[::-1], len(stage.ben.ephemerals(CHANNEL))
    stage.ben.click(listed, ids.ACTION_RELEASE)
    assert "A release of helper is marked" in shown(await stage.told(stage.ben, before + 1))
    assert "• release 1 of helper, " in await judge(stage, "release list")


async def test_a_deployment_marks_a_release_by_the_command(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = stage.services.settings
    await release(settings, f"#{CHANNEL}", "@helper", "version 7")
    said = capsys.readouterr().out
    assert "The release “version 7” of helper is marked" in said
    assert "four weeks, those whom the watch alerts are told" in said
    with pytest.raises(BotError, match="SLACK_BOT_TOKEN is for another workspace"):
        await release(settings, f"T9/{CHANNEL}", "@helper", "version 7")
    with pytest.raises(BotError, match="`@nobody` is not watched in this channel"):
        await release(settings, f"#{CHANNEL}", "@nobody", "version 7")
    assert "by `os:" in await judge(stage, "release list")


async def test_a_watch_without_a_release_tells_nothing(stage: Stage) -> None:
    assert stage.services
    await tell_releases(stage.services)
    assert direct(stage, "ann") == []
