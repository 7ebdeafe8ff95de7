"""A channel shared with another company: this workspace is served as elsewhere, and the other's
people are refused.
"""

import pytest

from bot.domain.blocker import ANOTHERS, FOREIGN
from bot.slack import ids
from pocket_slack import Message, Person
from tests.gestures import heard, up_to_date
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, StageFactory

ELSEWHERE, THEIR_ORGANISATION, ANOTHER = "T0ELSEWHERE", "E0ELSEWHERE", "T0ANOTHER"


@pytest.fixture
async def stage(open_stage: StageFactory, request: pytest.FixtureRequest) -> Stage:
    """A channel of ann's company and ben's, with a reaction that asks for a score."""
    allowed = frozenset(getattr(request, "param", ()))
    opened: Stage = await open_stage(events=("message.channels",), companies_allowed=allowed)
    opened.slack.workspace.channel(CHANNEL).shared_with = ELSEWHERE
    opened.ben.user.team_id, opened.ben.user.enterprise_id = ELSEWHERE, THEIR_ORGANISATION
    opened.ann.command(CHANNEL, ids.COMMAND, "reaction :mag:")
    await opened.told(opened.ann)
    return opened


async def scored(stage: Stage) -> tuple[Message, Message]:
    parent, answer = stage.ask_and_answer()
    stage.ann.react(answer, "mag")
    return answer, await stage.verdict(parent)


async def test_only_the_channels_emoji_of_ones_own_people_scores_a_reply(stage: Stage) -> None:
    _, answer = stage.ask_and_answer()
    stage.ann.react(answer, "tada")
    stage.ben.react(answer, "mag")
    await heard(stage, 2)
    assert (await stage.told(stage.ben)).text == FOREIGN
    assert await stage.cases() == 0
    await scored(stage)
    assert await stage.cases() == 1


async def test_an_edit_by_the_other_companys_people_is_noticed(stage: Stage) -> None:
    answer, _ = await scored(stage)
    stage.helper.user.team_id = ELSEWHERE
    stage.helper.edit(answer, "Use git revert instead.")
    assert (await up_to_date(stage)).edited_at is not None


@pytest.mark.needs("privacy")
async def test_thumbs_of_ones_own_people_are_counted_and_of_no_others(stage: Stage) -> None:
    from bot.features.privacy.queries import PersonalData

    answer, _ = await scored(stage)
    stage.ann.react(answer, "+1")
    stage.ben.react(answer, "+1")
    await heard(stage, 3)
    workspace = stage.slack.workspace
    counts = [
        await PersonalData(stage.log.database).count(workspace.team_id, each.id)
        for each in (stage.ann, stage.ben)
    ]
    assert [each.thumbs for each in counts] == [1, 0]


async def test_a_window_of_ones_own_people_is_served_and_anothers_is_refused(stage: Stage) -> None:
    for person in (stage.ann, stage.ben):
        person.command(CHANNEL, ids.COMMAND)
        await stage.fill_in(person, {ids.BLOCK_QUESTION: QUESTION, ids.BLOCK_RESPONSE: ANSWER})
    assert stage.ann.view is None
    assert stage.ben.view is not None
    assert stage.ben.view.errors == {ids.BLOCK_RESPONSE: FOREIGN}
    assert await stage.cases() == 1


async def test_another_companys_people_ask_for_nothing_by_menu_or_button(stage: Stage) -> None:
    _, verdict = await scored(stage)
    _, other = stage.ask_and_answer()
    stage.ben.shortcut(ids.SHORTCUT_SCORE_REPLY, other)
    stage.ben.click(verdict, ids.ACTION_WRONG_QUESTION)
    await stage.told(stage.ben, 2)
    assert {each.text for each in stage.ben.ephemerals(CHANNEL)} == {FOREIGN}
    assert await stage.cases() == 1


@pytest.mark.parametrize(
    "stage", [{ELSEWHERE}, {THEIR_ORGANISATION}], indirect=True, ids=["workspace", "organisation"]
)
async def test_people_of_a_company_that_is_allowed_are_served_and_of_no_third_one(
    stage: Stage,
) -> None:
    parent, answer = stage.ask_and_answer()
    eve = Person(stage.slack.workspace, stage.slack.workspace.add_user("eve", team_id=ANOTHER).name)
    eve.join(CHANNEL)
    eve.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    assert (await stage.told(eve)).text == FOREIGN
    stage.ben.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    await stage.verdict(parent)
    assert await stage.cases() == 1


@pytest.mark.parametrize("stage", [{ELSEWHERE}], indirect=True)
async def test_admins_of_a_company_that_is_allowed_have_no_more_rights_than_guests(
    stage: Stage,
) -> None:
    stage.ben.user.is_admin = True
    internal = stage.slack.workspace.add_channel(
        "internal", [stage.ann.user, stage.helper.user, stage.slack.workspace.bot]
    )
    services = stage.services
    assert services
    assert await services.memberships.keeps_out(stage.ben.id, internal.id)
    assert not await services.access.is_admin(stage.ben.id)
    stage.ben.command(CHANNEL, ids.COMMAND, "reaction off")
    assert (await stage.told(stage.ben)).text.startswith("Guests cannot change score reactions.")


async def test_whom_slack_does_not_show_to_the_app_is_refused(stage: Stage) -> None:
    _, answer = stage.ask_and_answer()
    stage.slack.fail("users.info", error="user_not_visible")
    stage.ben.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    assert (await stage.told(stage.ben)).text == FOREIGN


async def test_a_reply_of_another_company_is_not_scored(stage: Stage) -> None:
    stage.helper.user.team_id = ELSEWHERE
    parent, answer = stage.ask_and_answer()

    def refusals() -> int:
        return sum(ANOTHERS in each.text for each in stage.ann.ephemerals(CHANNEL))

    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    await stage.slack.until(refusals)
    stage.ann.command(
        CHANNEL,
        ids.COMMAND,
        stage.slack.workspace.permalink(answer.channel_id, answer.ts, parent.ts),
    )
    await stage.slack.until(lambda: refusals() == 2)
    assert stage.model.requests == []
