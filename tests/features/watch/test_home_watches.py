"""The Home tab and `/judge stats` show the assistants of a person's channels, and nothing of others."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import insert

from bot.domain.case import CaseSource
from bot.domain.standing import Whose
from bot.domain.watch import Watch
from bot.features.watch.figures import MOST_AT_HOME
from bot.features.watch.standing_text import day_words
from bot.slack import ids
from bot.store.schema import causes
from bot.store.standings import Standings
from judge.evaluation.standing import Direction
from pocket_slack import Channel
from tests.features.watch.test_week_text import standing
from tests.features.watch.watching import add_other, orders, say
from tests.gestures import add_case, help_desk, home, private, stats
from tests.stage import Stage, shown
from tests.watches import only

pytestmark = [pytest.mark.needs("home"), pytest.mark.needs("digest")]
NOBODY = "No assistant of your channels is watched yet"


async def watch(stage: Stage, channel: Channel, *scores: int, **changes: Any) -> None:
    """A watch on helper in a channel, which has drawn these scores."""
    team_id = stage.slack.workspace.team_id
    author_id = stage.helper.id
    its = Watch(team_id, channel.id, author_id, datetime.now(UTC), is_private=channel.is_private)
    await orders(stage).save(its, stage.ann.id)
    await draw(stage, channel, author_id, *scores, **changes)


async def draw(
    stage: Stage, channel: Channel, author_id: str, *scores: int, **changes: Any
) -> None:
    its = {"source": CaseSource.WATCH, "probability": 1.0} | changes
    for number, score in enumerate(scores):
        at = {"message_ts": f"{number}.1", "key": f"{channel.id} {author_id} {number}"}
        await add_case(stage, channel, author_id, score, **its, **at)


async def stand(stage: Stage, level: float, **changes: Any) -> None:
    """The standing of helper, in its public channels by default."""
    now = datetime.now(UTC)
    its = {"team_id": stage.slack.workspace.team_id, "author_id": stage.helper.id}
    given = {"stored_at": now, "looked_at": now, "version": None, "level": level}
    await Standings(stage.log.database).begin(standing(**its | given | changes))


def of_ben(stage: Stage) -> Channel:
    """A public channel without ann."""
    workspace = stage.slack.workspace
    return workspace.add_channel("bens", [stage.ben.user, workspace.bot])


async def test_the_worst_is_first_with_its_low_replies_and_their_list(stage: Stage) -> None:
    other = add_other(stage)
    desk = help_desk(stage)
    await watch(stage, desk)
    others = replace(await only(stage), author_id=other.id)
    await orders(stage).save(others, stage.ann.id)
    await stand(stage, 3.9)
    since = datetime.now(UTC).date()
    lower = {"direction": Direction.LOWER, "since": since, "step": -2.4, "before": 3.9}
    await stand(stage, 1.5, author_id=other.id, whose=Whose.ASSISTANT, **lower)
    await draw(stage, desk, other.id, 1, 0, 1, 4)
    here = {"team_id": stage.slack.workspace.team_id, "channel_id": desk.id, "week": "w1"}
    rows = [{**here, "case_id": number, "name": "does not answer"} for number in (1, 2)]
    await stage.log.database.execute(insert(causes).values(rows))
    view = await home(stage)
    first, second = [block["text"]["text"] for block in view.body["blocks"][1:3]]
    assert first == (
        f"▼ *other* has become worse: 1.5 since {day_words(since)}, was 3.9 · 3 low in 7 days "
        "· most often: does not answer (2 of 3)"
    )
    assert second == "*helper* is steady: 3.9"
    button = view.body["blocks"][1]["accessory"]
    stage.ann.click(view, button["action_id"], block_id=view.body["blocks"][1].get("block_id"))
    assert shown(await stage.modal(stage.ann)).count("|Score ") == 3


async def test_a_message_to_the_app_is_answered_with_ones_assistants(stage: Stage) -> None:
    await watch(stage, help_desk(stage))
    await stand(stage, 3.9)
    stage.ann.post(stage.ann.im, "which of my assistants is worse this week?")
    told = shown(await stage.told(stage.ann, channel=stage.ann.im))
    assert "*helper* is steady: 3.9" in told


async def test_only_low_replies_of_ones_own_channels_are_counted_and_listed(stage: Stage) -> None:
    await watch(stage, help_desk(stage), 1)
    await watch(stage, of_ben(stage), 0, 0)
    view = await home(stage)
    assert "1 low in 7 days" in shown(view)
    stage.ann.click(view, view.body["blocks"][1]["accessory"]["action_id"])
    window = shown(await stage.modal(stage.ann))
    assert (window.count("|Score 1 of 5>"), window.count("|Score 0 of 5>")) == (1, 0)


async def test_a_private_channels_standing_is_shown_to_its_members_alone(stage: Stage) -> None:
    leads = private(stage, "ben")
    await watch(stage, leads)
    await stand(stage, 2.0, channel_id=leads.id)
    await stand(stage, 4.0)
    assert NOBODY in shown(await home(stage))
    assert f"*helper* is steady: 2.0 · in <#{leads.id}>" in shown(await home(stage, stage.ben))


async def test_without_slacks_word_on_channels_none_are_listed(stage: Stage) -> None:
    await say(stage, "@helper all")
    for _ in range(10):
        stage.slack.fail("users.conversations", error="missing_scope")
    assert "has no scores of earlier days yet" not in shown(await home(stage))


async def test_a_long_list_says_how_many_more(stage: Stage) -> None:
    await watch(stage, help_desk(stage))
    helpers = await only(stage)
    for number in range(MOST_AT_HOME + 1):
        another = replace(helpers, author_id=f"U9{number:02}")
        await orders(stage).save(another, stage.ann.id)
    words = shown(await home(stage))
    assert words.count("has no scores of earlier days yet") == MOST_AT_HOME
    assert "And 2 more: `/judge stats` in their channels." in words


async def test_the_settings_have_the_watches_of_the_persons_channels(stage: Stage) -> None:
    await say(stage, "@helper 1 in 5 40 a day alert here")
    view = await home(stage)
    stage.ann.click(view, "open_settings")
    words = shown(await stage.modal(stage.ann))
    assert f"<#{help_desk(stage).id}>: *helper*: a random 1 in 5 of its replies" in words


async def test_an_earlier_week_shows_its_scores_and_the_standing_of_now(stage: Stage) -> None:
    now = datetime.now(UTC)
    ago = now - timedelta(weeks=3)
    await watch(stage, help_desk(stage), 4, 4, 4, 4, 3, judged_at=ago)
    lower = {"direction": Direction.LOWER, "since": now.date(), "step": -2.0, "before": 4.0}
    await stand(stage, 2.0, **lower)
    for number, when in enumerate((f"{ago:%Y-%m-%d}", "4 weeks"), 1):
        told = shown(await stats(stage, f"@helper {when}", number))
        assert "*helper*: mean 3.8, by 5 scores\nNow: ▼ Scores of *helper* are lower" in told


async def test_everywhere_is_public_channels_and_ones_own_private_ones(stage: Stage) -> None:
    leads = private(stage, "ben")
    for channel in (help_desk(stage), of_ben(stage), leads):
        await watch(stage, channel, 0, 4)
    await stand(stage, 3.9)
    await stand(stage, 2.0, channel_id=leads.id)
    told = shown(await stats(stage, "@helper everywhere"))
    assert "*helper* is steady: 3.9\nIn 2 channels." in told
    assert "2.0" not in told
    stage.ben.command(stage.ben.im, ids.COMMAND, "stats @helper")
    of_both = shown(await stage.told(stage.ben, channel=stage.ben.im))
    assert f"*helper* is steady: 2.0\nIn <#{leads.id}>." in of_both
    assert "*helper* is steady: 3.9" in of_both


async def test_a_guest_sees_no_assistant_of_public_channels_of_others(stage: Stage) -> None:
    await watch(stage, of_ben(stage))
    await stand(stage, 3.9)
    assert "is steady: 3.9" in shown(await stats(stage, "@helper everywhere"))
    stage.ann.user.is_guest = True
    assert (await stats(stage, "@helper everywhere", 2)).text.startswith("I cannot show `@helper")
