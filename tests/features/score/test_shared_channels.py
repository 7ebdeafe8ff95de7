"""A channel shared with another company: this workspace is served as elsewhere, and the other's
people are refused.
"""

import sys
from typing import Any

import pytest
from sqlalchemy import select

from bot.domain.blocker import ANOTHERS, FOREIGN
from bot.slack import ids
from bot.store.schema import thumbs
from pocket_slack import Delivery, Message, Person, payloads
from tests.gestures import calls, count, heard, home, link, republished, up_to_date
from tests.stage import CHANNEL, Stage, StageFactory, shown

ELSEWHERE = "T0ELSEWHERE"
THEIR_ORGANISATION = "E0ELSEWHERE"
ANOTHER = "T0ANOTHER"


@pytest.fixture
async def stage(open_stage: StageFactory, request: pytest.FixtureRequest) -> Stage:
    """A channel of ann's company and ben's, with a reaction that asks for a score."""
    allowed = frozenset(getattr(request, "param", ()))
    opened: Stage = await open_stage(events=("message.channels",), companies_allowed=allowed)
    opened.slack.workspace.channel(CHANNEL).shared_with = ELSEWHERE
    opened.ben.user.team_id = ELSEWHERE
    opened.ben.user.enterprise_id = THEIR_ORGANISATION
    opened.ann.command(CHANNEL, ids.COMMAND, "reaction :mag:")
    await opened.told(opened.ann)
    return opened


async def scored(stage: Stage) -> tuple[Message, Message]:
    parent, answer = stage.ask_and_answer()
    stage.ann.react(answer, "mag")
    return answer, await stage.verdict(parent)


async def test_the_channels_emoji_of_ones_own_people_alone_scores_a_reply(stage: Stage) -> None:
    _, answer = stage.ask_and_answer()
    stage.ben.react(answer, "mag")
    assert (await stage.told(stage.ben)).text == FOREIGN
    assert await stage.cases() == 0
    await scored(stage)
    assert await stage.cases() == 1


async def test_thumbs_of_ones_own_people_alone_count_but_edits_by_the_others_are_noticed(
    stage: Stage,
) -> None:
    answer, _ = await scored(stage)
    stage.ann.react(answer, "+1")
    stage.ben.react(answer, "+1")
    await heard(stage, 3)
    assert await stage.log.database.values(select(thumbs.c.user_id)) == [stage.ann.id]
    stage.helper.user.team_id = ELSEWHERE
    stage.helper.edit(answer, "Use git revert instead.")
    assert (await up_to_date(stage)).edited_at is not None


def every(kind: str) -> list[str]:
    """The ids of this kind (`ACTION_`, `VIEW_`) of all features."""
    modules = [module for name, module in sys.modules.items() if name.startswith("bot.")]
    found = [vars(module).items() for module in modules]
    return sorted({str(value) for names in found for name, value in names if name.startswith(kind)})


def forged(action_id: str) -> dict[str, str]:
    """A click on a button for the first case."""
    return {"type": "button", "action_id": action_id, "block_id": "b", "value": "1"}


def interactive(stage: Stage, payload: dict[str, Any]) -> Delivery:
    return stage.workspace.deliveries.send("interactive", payload)


def made(stage: Stage, *methods: str) -> int:
    """How often the app has made these calls."""
    return sum(len(calls(stage, each)) for each in methods)


async def test_another_companys_people_are_refused_at_each_button_of_a_message(
    stage: Stage,
) -> None:
    workspace = stage.workspace
    _, verdict = await scored(stage)
    asked = len(stage.model.requests)
    actions = every("ACTION_")
    where = workspace.channel(CHANNEL)
    for number, action_id in enumerate(actions, 1):
        action = forged(action_id)
        interactive(
            stage, payloads.message_action(workspace, stage.ben.user, where, verdict, action)
        )
        assert (action_id, (await stage.told(stage.ben, number)).text) == (action_id, FOREIGN)
    assert ids.ACTION_AGREE in actions
    assert (made(stage, "views.open", "views.update"), len(stage.model.requests)) == (0, asked)


async def test_another_companys_people_are_refused_at_each_window_that_they_submit(
    stage: Stage,
) -> None:
    stage.ann.command(CHANNEL, ids.COMMAND)
    window = await stage.modal(stage.ann)
    for callback_id in every("VIEW_"):
        window.body["callback_id"] = callback_id
        sent = payloads.view_submission(stage.workspace, stage.ben.user, window)
        answer = (await stage.slack.settled(interactive(stage, sent))).response
        assert (callback_id, answer["view"]["blocks"][0]["text"]["text"]) == (callback_id, FOREIGN)
    assert await stage.cases() == 0


@pytest.mark.needs("home")
async def test_another_companys_people_see_nothing_in_the_home_tab(stage: Stage) -> None:
    await scored(stage)
    view = await home(stage, stage.ben)
    assert shown(view) == FOREIGN
    published = count(stage)
    sent = payloads.view_action(
        stage.workspace, stage.ben.user, view, forged(ids.ACTION_RECENT_NEWEST)
    )
    interactive(stage, sent)
    assert shown(await republished(stage, published, stage.ben)) == FOREIGN
    assert made(stage, "views.open", "views.update") == 0


@pytest.mark.parametrize("stage", [{THEIR_ORGANISATION}], indirect=True)
async def test_people_of_a_company_that_is_allowed_are_served_and_of_no_third_one(
    stage: Stage,
) -> None:
    parent, answer = stage.ask_and_answer()
    eve = Person(stage.workspace, stage.workspace.add_user("eve", team_id=ANOTHER).name)
    eve.join(CHANNEL)
    eve.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    assert (await stage.told(eve)).text == FOREIGN
    await stage.score(answer, stage.ben)
    await stage.verdict(parent)
    assert await stage.cases() == 1


@pytest.mark.parametrize("stage", [{ELSEWHERE}], indirect=True)
async def test_admins_of_a_company_that_is_allowed_have_no_more_rights_than_guests(
    stage: Stage,
) -> None:
    stage.ben.user.is_admin = True
    internal = stage.workspace.add_channel(
        "internal", [stage.ann.user, stage.helper.user, stage.workspace.bot]
    )
    services = stage.services
    assert await services.memberships.keeps_out(stage.ben.id, internal.id)
    assert not await services.access.is_admin(stage.ben.id)
    stage.ben.command(CHANNEL, ids.COMMAND, "reaction off")
    assert (await stage.told(stage.ben)).text.startswith("Guests cannot change score reactions.")


async def test_a_reply_of_another_company_is_not_scored(stage: Stage) -> None:
    stage.helper.user.team_id = ELSEWHERE
    _, answer = stage.ask_and_answer()

    def refusals() -> int:
        return sum(ANOTHERS in each.text for each in stage.ann.ephemerals(CHANNEL))

    await stage.score(answer)
    await stage.slack.until(refusals)
    stage.ann.command(CHANNEL, ids.COMMAND, link(stage, answer))
    await stage.slack.until(lambda: refusals() == 2)
    assert stage.model.requests == []
