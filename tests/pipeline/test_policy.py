"""Where nothing is to be scored, or nobody's words but a bot's, nothing is, and nothing is kept."""

from bot.domain.limits import Policy
from bot.slack import ids
from tests.cases import newest
from tests.gestures import link, say
from tests.stage import CHANNEL, SCORED, Stage, StageFactory, shown
from tests.tables import each

OFF = "Scoring is switched off in that channel by the app's settings."
BOTS_ALONE = "I score only bots' replies here"


async def ask_in_every_way(stage: Stage) -> list[str]:
    """What ann is told when she asks by shortcut, link and command."""
    _, answer = stage.ask_and_answer()
    await stage.score(answer)
    told = [(await stage.told(stage.ann)).text]
    return told + [
        (await say(stage, text)).text for text in (link(stage, answer), "Why? | Because.")
    ]


async def test_nothing_is_scored_in_a_channel_that_is_not_among_the_allowed(
    open_stage: StageFactory,
) -> None:
    stage = await open_stage(channels_allowed="C0000OTHER, C0000MORE")
    assert await ask_in_every_way(stage) == [OFF] * 3
    assert await stage.cases() == 0


@each(
    ("channel_id", "message_ts", "is_allowed"),
    [
        ("C1", None, True),
        ("C2", None, False),
        ("C3", "1.0", False),
        ("D1", None, True),
        ("D1", "1.0", False),
    ],
)
def test_messages_of_other_peoples_direct_messages_are_off_where_channels_are_named(
    channel_id: str, message_ts: str | None, is_allowed: bool
) -> None:
    policy = Policy(allowed_channels=frozenset({"C1", "C2"}), denied_channels=frozenset({"C2"}))
    assert policy.may_score(channel_id, has_message=message_ts is not None) is is_allowed


async def test_where_people_are_not_scored_their_words_are_not_kept(
    open_stage: StageFactory,
) -> None:
    stage = await open_stage(score_people=False)
    parent = stage.helper.post(CHANNEL, "Which tool?")
    answer = stage.ben.post(CHANNEL, "Just use git.", thread_ts=parent.ts)
    await stage.score(answer)
    assert (await stage.told(stage.ann)).text.startswith(BOTS_ALONE)
    stage.ann.command(CHANNEL, ids.COMMAND, link(stage, answer))
    await stage.told(stage.ann, 3)  # also that the link was taken in, in any order
    assert BOTS_ALONE in "".join(map(shown, stage.ann.ephemerals(CHANNEL)[1:]))
    (case,) = await newest(stage.log, 5)
    assert not case.response
    assert not stage.model.requests


async def test_only_who_asked_sees_the_score_of_a_persons_reply(stage: Stage) -> None:
    parent = stage.helper.post(CHANNEL, "Which tool?")
    answer = stage.ben.post(CHANNEL, "Just use git.", thread_ts=parent.ts)
    await stage.score(answer)
    assert (await stage.told(stage.ann)).text.startswith(SCORED)
    assert stage.ours() == []


async def test_where_slack_does_not_say_who_is_a_bot_nobody_is(open_stage: StageFactory) -> None:
    stage = await open_stage(score_people=False)
    stage.slack.fail("users.info", error="user_not_found", times=2)
    stage.ask_for_score()
    assert (await stage.told(stage.ann)).text.startswith(BOTS_ALONE)
    assert await stage.cases() == 0
