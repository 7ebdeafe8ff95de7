"""`/judge stats`: the figures of a channel or an author, for people in that channel only."""

from datetime import UTC, datetime, timedelta
from itertools import permutations

from bot.features.digest.stats import DIRECT, no_author, no_channel
from bot.pipeline.text import NOT_YOURS, several_named, unsure_of_membership
from bot.slack import ids
from bot.slack.members import Member, MembershipError
from tests.gestures import add_case, add_cases, help_desk, private, stats
from tests.stage import CHANNEL, Stage, shown

UNSURE = unsure_of_membership(MembershipError("missing_scope"))


async def test_the_week_so_far_of_this_channel_is_shown_to_one_person(stage: Stage) -> None:
    await add_cases(stage, help_desk(stage), stage.helper.id, 4, 4, 4, 1, 1, 1)
    told = await stats(stage)
    assert told.text.startswith("This week so far (")
    assert "*helper*: 6 replies chosen by people. Mean *2.5*, by 6 scores" in shown(told)
    assert stage.ours() == []
    assert stage.ben.ephemerals(CHANNEL) == []


async def test_an_assistants_figures_are_its_own(stage: Stage) -> None:
    other = stage.slack.workspace.add_bot("Other Bot")
    await add_cases(
        stage, help_desk(stage), stage.helper.id, 1, 3, 3, 3, 5, justification="It *depends*."
    )
    await add_case(stage, help_desk(stage), other.id, 0)
    told = await stats(stage, "@HELPER")
    assert ", helper: helper: 5 replies chosen by people. Mean 3.0" in told.text
    assert "“It depends.”" in shown(told)
    assert "Score 0" not in shown(told)
    assert (await stats(stage, f"<@{stage.helper.id}>", 2)).text == told.text
    said = (await stats(stage, "@other bot", 3)).text
    assert ", Other Bot: Other Bot: 1 reply chosen by people" in said


async def test_a_name_of_several_is_answered_with_their_ids(stage: Stage) -> None:
    twin = stage.slack.workspace.add_bot("Helper")
    for author_id in (stage.helper.id, twin.id):
        await add_case(stage, help_desk(stage), author_id, 4)
    answer = (await stats(stage, "@helper")).text
    assert answer in {
        several_named("helper", each) for each in permutations([stage.helper.id, twin.id])
    }
    assert ", Helper: Helper: 1 reply" in (await stats(stage, f"@{twin.id}", 2)).text


async def test_an_unknown_name_and_a_persons_are_answered_with_the_known_ones(
    stage: Stage,
) -> None:
    await add_case(stage, help_desk(stage), stage.ben.id, 0)
    ago = datetime.now(UTC) - timedelta(weeks=1)
    await add_case(stage, help_desk(stage), stage.helper.id, 4, judged_at=ago)
    known = {"B1": Member("helper", True)}
    for number, name in enumerate(("zoe", "ben", stage.ben.id), 1):
        assert (await stats(stage, f"@{name}", number)).text == no_author(name, known)


async def test_figures_are_shown_only_to_those_who_slack_says_are_in_the_channel(
    stage: Stage,
) -> None:
    await add_case(stage, help_desk(stage), stage.helper.id, 4)
    for count, text in enumerate(("", "@helper", "#help-desk"), 1):
        stage.slack.fail("users.conversations", error="missing_scope")
        assert (await stats(stage, text, count)).text == UNSURE
    stage.ann.leave(CHANNEL)
    for count, text in enumerate(("", "@helper"), 4):
        assert (await stats(stage, text, count)).text == NOT_YOURS


async def test_direct_messages_have_no_stats_of_their_own(stage: Stage) -> None:
    await add_case(stage, help_desk(stage), stage.helper.id, 4)
    stage.ann.command(stage.ann.im, ids.COMMAND, "stats")
    assert (await stage.told(stage.ann, channel=stage.ann.im)).text == DIRECT
    stage.ann.command(stage.ann.im, ids.COMMAND, "stats #help-desk")
    assert "1 reply chosen by people" in (await stage.told(stage.ann, 2, stage.ann.im)).text


async def test_another_channel_is_shown_to_its_members_and_is_not_there_for_others(
    stage: Stage,
) -> None:
    leads = private(stage, "ann")
    await add_case(stage, leads, stage.helper.id, 3)
    for count, name in enumerate((f"<#{leads.id}|leads>", "#LEADS"), 1):
        told = await stats(stage, name, count)
        assert f", <#{leads.id}>: helper: 1 reply chosen by people" in told.text
    both = leads.members
    for count, member in enumerate(both, 3):
        leads.members = [member]  # without the app, or without ann
        stage.services.memberships._channels.forget(stage.ann.id)
        assert (await stats(stage, "#leads", count)).text == no_channel("#leads")


async def test_an_earlier_time_has_its_own_figures(stage: Stage) -> None:
    ago = datetime.now(UTC) - timedelta(weeks=1)
    await add_cases(stage, help_desk(stage), stage.helper.id, 1, 1, 1, 1, 1, judged_at=ago)
    told = await stats(stage, "last week")
    assert told.text.startswith("Week up to ")
    assert "Mean *1.0*, by 5 scores" in shown(told)
    said = (await stats(stage, "@helper 2 weeks", 2)).text
    assert said.startswith("2 weeks up to ")
    assert ", helper: helper: 5 replies chosen by people" in said
    assert (await stats(stage, "@helper", 3)).text.endswith(", helper: no replies were scored.")
    said = (await stats(stage, "everything", 4)).text
    assert "I do not know the time 'everything'" in said
    assert "`/judge stats #channel`" in said
