"""People who agreed to it are asked for a few blind labels."""

import asyncio
import re
from dataclasses import replace
from datetime import timedelta

import pytest
from slack_sdk.errors import SlackApiError
from sqlalchemy import insert

from bot.domain.clock import utc_now, utc_week
from bot.features.labels import ids
from bot.features.labels.invitations import ask_due
from bot.services import Services
from bot.store.schema import labels, people
from pocket_slack import Message, Person
from tests.features.labels.test_blind_labels import click, give, open_window, replies
from tests.gestures import help_desk
from tests.stage import CHANNEL, Stage, StageFactory, buttons, shown

MONDAY = utc_week(utc_now()) + timedelta(weeks=1, hours=10)


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    """A stage where it is night, so that the bot asks nobody by itself."""
    behind = utc_now().hour - 2
    opened: Stage = await open_stage(
        digest_tz=f"Etc/GMT{behind if behind <= 12 else behind - 24:+}"
    )
    return opened


def at(stage: Stage, weeks: int = 0, **later: int) -> Services:
    in_utc = stage.services.settings.model_copy(update={"digest_tz": "UTC"})
    return replace(
        stage.services, settings=in_utc, clock=lambda: MONDAY + timedelta(weeks=weeks, **later)
    )


def asked(stage: Stage, person: Person) -> list[Message]:
    return list(stage.slack.workspace.channel(person.im).messages.values())


async def agree(stage: Stage, *user_ids: str) -> None:
    team = stage.slack.workspace.team_id
    rows = [
        {"team_id": team, "user_id": each, "is_asked": True, "updated_at": utc_now()}
        for each in user_ids
    ]
    await stage.log.database.execute(insert(people).values(rows))


async def test_who_agreed_is_asked_once_a_week(stage: Stage) -> None:
    await replies(stage, 7, thread_ts=None, judge_version="v1")
    await open_window(stage)
    for _ in range(3):
        end = await give(stage, 4)
    assert "can be told after about 17 more blind scores" in shown(end)
    assert "Stop asking me" in shown(await click(stage, ids.ACTION_ASK))
    stage.ann.close()
    for services in (at(stage, hours=-2), at(stage, days=5), at(stage, minutes=7)):
        await ask_due(services)
    assert asked(stage, stage.ann) == []
    for services in (at(stage), at(stage, days=1)):
        await ask_due(services)
    (message,) = asked(stage, stage.ann)
    stage.ann.click(message, ids.ACTION_ASKED)
    await stage.modal(stage.ann)
    await ask_due(at(stage, weeks=1))
    assert len(asked(stage, stage.ann)) == 2


async def test_two_a_week_are_asked_through_restarts_the_one_asked_longest_ago_first(
    stage: Stage,
) -> None:
    await replies(stage, 3)
    stage.slack.workspace.add_user("cleo")
    cleo = stage.slack.person("cleo")
    cleo.join(CHANNEL)
    await agree(stage, stage.ann.id, stage.ben.id, cleo.id)
    everyone = (stage.ann, stage.ben, cleo)
    stage.slack.fail("chat.postMessage", status=500, is_applied=True)
    with pytest.raises(
        SlackApiError
    ):  # as in a process that is killed between the claim and the answer
        await ask_due(at(stage))
    await asyncio.gather(*(ask_due(at(stage)) for _ in range(3)))
    (left,) = [each for each in everyone if not asked(stage, each)]
    await ask_due(at(stage, weeks=1))
    assert len(asked(stage, left)) == 1
    assert sum(len(asked(stage, each)) for each in everyone) == 4


async def test_who_stops_or_has_nothing_to_score_is_not_asked(stage: Stage) -> None:
    await agree(stage, stage.ann.id, stage.ben.id)
    await replies(stage, 3, requester_id=stage.ben.id)
    await ask_due(at(stage))
    (message,) = asked(stage, stage.ann)
    await stage.slack.settled(stage.ann.click(message, ids.ACTION_STOP))
    await stage.slack.until(
        lambda: buttons(asked(stage, stage.ann)[0]) == [ids.ACTION_ASKED, ids.ACTION_ASK]
    )
    await ask_due(at(stage, weeks=1))
    assert len(asked(stage, stage.ann)) == 1
    assert asked(stage, stage.ben) == []


async def test_with_enough_labels_the_end_says_what_people_give(stage: Stage) -> None:
    numbers = await replies(stage, 26, thread_ts=None, judge_version="v1")
    last_week = utc_week(utc_now()) - timedelta(days=1)
    place = {"team_id": stage.slack.workspace.team_id, "channel_id": help_desk(stage).id}
    given = place | {"is_blind": True, "user_id": "U-dan", "probability": 1.0}
    given |= {"created_at": last_week, "updated_at": last_week}
    rows = [given | {"case_id": each, "score": 2 + each % 2} for each in numbers[:20]]
    await stage.log.database.execute(insert(labels).values(rows))
    await open_window(stage)
    for _ in range(3):
        end = await give(stage, 5)
    found = re.search(r"with your scores: \*(\d\.\d) to (\d\.\d)\*", shown(end))
    low, high = map(float, found.groups())
    assert low < (20 * 2.5 + 3 * 5) / 23 < high
