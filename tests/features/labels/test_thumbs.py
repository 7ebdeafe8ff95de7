"""Thumbs under replies are counted in `/judge stats`, on a line of their own, and change no other
figure.
"""

from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select

from bot.slack import ids
from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from bot.store.digests import ThumbCount
from bot.store.figures import Place, Span
from bot.store.schema import thumbs
from tests.gestures import heard, help_desk, scored, stats
from tests.stage import CHANNEL, Stage, StageFactory, shown

ALWAYS = Span(datetime(2026, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage(
        manifest=load_manifest(parts=[MESSAGE_EVENTS]), watch_by="events"
    )
    return opened


async def counts(stage: Stage) -> list[ThumbCount]:
    place = Place(stage.slack.workspace.team_id, help_desk(stage).id)
    return list(await stage.log.thumbs.counts(place, ALWAYS))


async def rows(stage: Stage) -> int:
    return int(await stage.log.database.value(select(func.count()).select_from(thumbs)))


@pytest.mark.needs("digest")
async def test_details_say_how_many_there_are_apart_from_all_else(stage: Stage) -> None:
    from bot.features.digest.ids import ACTION_DIGEST_DETAILS

    (first, _), (second, _) = await scored(stage), await scored(stage)
    before = await stats(stage)
    stage.ann.react(first, "+1")
    stage.ben.react(first, "thumbsup::skin-tone-5")
    stage.ben.react(second, "-1")
    stage.ben.react(second, "tada")
    await heard(stage, 4)
    told = await stats(stage, count=2)
    assert shown(told) == shown(before)
    stage.ann.click(told, ACTION_DIGEST_DETAILS)
    details = shown(await stage.told(stage.ann, 3))
    assert "*helper*, thumbs (not labels): 2 up, 1 down on 2 replies" in details
    assert await stage.log.labels.teams() == []


async def test_a_thumb_that_asks_for_a_score_or_of_the_assistant_itself_is_no_opinion(
    stage: Stage,
) -> None:
    answer, _ = await scored(stage)
    stage.ann.command(CHANNEL, ids.COMMAND, "reaction :+1:")
    await stage.told(stage.ann)
    for name in ("+1", "-1"):
        stage.helper.react(answer, name)
    stage.ann.react(answer, "+1")
    stage.ben.react(answer, "-1")
    await heard(stage, 4)
    assert await counts(stage) == [ThumbCount(stage.helper.id, 0, 1, 1)]
    assert await rows(stage) == 1
