"""The digest in Slack: what the command does, and what is in the message that comes of it."""

from bot.slack import ids as slack_ids
from bot.store.channels import ChannelSettings
from pocket_slack import Message
from tests.gestures import add_case, add_cases, help_desk, its_digest, scored, stats
from tests.stage import CHANNEL, Stage, StageFactory, shown


async def digest(stage: Stage, text: str, count: int = 1) -> Message:
    """What ann is told after `/judge digest ...`."""
    stage.ann.command(CHANNEL, slack_ids.COMMAND, f"digest {text}")
    return await stage.told(stage.ann, count)


async def settings(stage: Stage) -> ChannelSettings:
    return await stage.log.channels.of(stage.slack.workspace.team_id, help_desk(stage).id)


async def test_it_is_switched_on_at_the_usual_or_a_chosen_time_and_off(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage(digest_day="wed", digest_time="7:15", digest_tz="asia/tokyo")
    assert "every Wednesday at 07:15 (Asia/Tokyo)" in (await digest(stage, "on")).text
    told = await digest(stage, "on every Fri at 16:30 in europe/berlin", 2)
    assert "every Friday at 16:30 (Europe/Berlin)" in told.text
    assert "every Friday at 08:00 (Europe/Berlin)" in (await digest(stage, "on 8:00", 3)).text
    assert (await settings(stage)).is_digest_on
    assert "is off" in (await digest(stage, "off", 4)).text
    assert not (await settings(stage)).is_digest_on


async def test_a_mistake_is_answered_with_what_is_understood(stage: Stage) -> None:
    mistakes = {
        "on berlin": "such as Europe/Berlin, a day such as Friday, or a time such as 16:30. What I",
        "on " + "x" * 2900: f"{'x' * 80!r} is not a time zone",
        "<!channel>": "@channel",
    }
    for count, (text, part) in enumerate(mistakes.items(), 1):
        told = await digest(stage, text, count)
        assert part in told.text
        assert "`/judge digest off`" in told.text.partition("\n")[2]


async def test_the_week_is_posted_for_all_once_it_is_over(stage: Stage) -> None:
    stage.model.script("score: 1\nBecause.")
    answer, _ = await scored(stage)
    verdict = await stage.log.cases.verdict(1)
    by = {"judge_version": verdict.judge_version}
    await add_cases(stage, help_desk(stage), stage.helper.id, 4, 5, 4, 5, **by)
    await add_case(stage, help_desk(stage), stage.ben.id, 0)
    message = await its_digest(stage)
    assert message.text.startswith("Week up to ")
    said = shown(message)
    assert "*helper*: 5 replies chosen by people. Mean *3.8*, by 5 scores in four" in said
    assert answer.ts.replace(".", "") in said
    assert "|Score 1> · helper" in said
    assert "|Score 0>" not in said  # a person's


async def test_authors_whose_names_slack_delays_are_not_listed(stage: Stage) -> None:
    await add_case(stage, help_desk(stage), stage.helper.id, 4)
    stage.services.members.patience_s = 0.1
    stage.slack.fail("users.info", status=429, retry_after_s=20)
    assert (await stats(stage)).text.endswith(": 1 other reply chosen by people.")


async def test_who_may_not_change_it_is_told_why_and_changes_nothing(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage(digest_by="admins")
    assert "Only workspace admins" in (await digest(stage, "on")).text
    stage.ann.user.is_guest = True
    said = (await digest(stage, "on", 2)).text
    assert said.startswith("Guests cannot change digests and watches")
    assert "The digest is off" in (await digest(stage, "", 3)).text
    stage.slack.fail("users.conversations", error="missing_scope")
    said = "does not let me see who is in this channel (`missing_scope`)"
    stage.ben.command(CHANNEL, slack_ids.COMMAND, "digest on")
    assert said in (await stage.told(stage.ben)).text
    assert not (await settings(stage)).is_digest_on


async def test_the_bot_asks_to_be_invited(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(is_member=False)
    assert "/invite @Slack Judge" in (await digest(stage, "on")).text
    assert not (await settings(stage)).is_digest_on
