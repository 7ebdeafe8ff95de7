"""What watches bring to other features."""

import pytest
from sqlalchemy import func, insert, select

from bot.store.schema import channels, thumbs
from tests.features.watch.test_watch_window import submit, window
from tests.features.watch.watching import say, scored, seen
from tests.gestures import add_case, heard, help_desk, stats
from tests.stage import Stage, shown

NO_LABELS = "thumbs (not labels):"


async def rows(stage: Stage) -> int:
    return int(await stage.log.database.value(select(func.count()).select_from(thumbs)))


@pytest.mark.needs("digest", "labels")
async def test_thumbs_count_before_their_watched_reply_is_scored(stage: Stage) -> None:
    from bot.features.digest.ids import ACTION_DIGEST_DETAILS

    _, old = stage.ask_and_answer()
    await say(stage, "@helper 1 in 9999")
    _, answer = stage.ask_and_answer()
    await seen(stage, 1)
    for message in (old, answer):
        stage.ann.react(message, "-1")
    await heard(stage, 2)
    assert await rows(stage) == 1
    stage.ann.click(await stats(stage, count=2), ACTION_DIGEST_DETAILS)
    details = shown(await stage.told(stage.ann, 3))
    assert f"*helper*, {NO_LABELS} 0 up, 1 down on 1 reply" in details


async def test_watched_replies_are_scored_with_the_channels_rubric(stage: Stage) -> None:
    here = {"team_id": stage.slack.workspace.team_id, "channel_id": help_desk(stage).id}
    await stage.log.database.execute(insert(channels).values(here | {"rubric": "code"}))
    assert "Replies are scored with this channel's rubric, `code`" in await window(stage)
    await submit(stage)
    *_, case = await scored(stage)
    assert case.rubric == "code"


@pytest.mark.needs("digest")
async def test_watched_assistants_come_before_what_people_chose(stage: Stage) -> None:
    await say(stage, "@helper all")
    await add_case(stage, help_desk(stage), stage.helper.id, 4)
    told = await stats(stage, count=2)
    said = [block["text"]["text"] for block in told.blocks if block["type"] == "section"]
    assert said[1].startswith("*helper* has no scores of earlier days yet")
    assert said[2] == "*helper*: 1 reply chosen by people."
