"""Before a channel's judge changes, labelled cases are judged by the new one, and the person who
asked decides.
"""

import asyncio
from collections.abc import Callable

import pytest
from sqlalchemy import select

from bot.domain.label import Label
from bot.features.rubrics import ids
from bot.features.rubrics.comparison import run
from bot.features.rubrics.improvement_text import CLOSED
from bot.features.rubrics.queries import LEAST, JudgeRequests
from bot.features.rubrics.text import CUT, GONE, LEFT, NO_MODEL, TOO_FEW, TOO_FEW_LABELS, USED_UP
from bot.features.rubrics.text import NOT_BOTH_HERE as NOT_BOTH
from bot.store.audit import Action
from bot.store.examples import Aim, Progress
from bot.store.rubrics import ChannelJudge
from bot.store.schema import judge_requests, spent
from judge import load_rubric, render_prompt
from pocket_slack import Message
from tests.features.rubrics.labelled import TOKENS, labelled
from tests.features.rubrics.test_rubrics import (
    TONE,
    acts,
    edit,
    make,
    place,
    prompts,
    save,
    say,
    scored,
)
from tests.model_server import Failure, Held
from tests.stage import CHANNEL, GOOD, Stage, StageFactory, buttons, shown


def asking(rubric: str, number: int = LEAST, most: int = LEAST) -> list[str]:
    """What the model is sent for the cases that `labelled` made, the newest first, from this number
    on.
    """
    numbers = range(number, number - most, -1)
    return [
        render_prompt(load_rubric(rubric), f"Question {each}?", f"Answer {each}.")
        for each in numbers
    ]


async def compared(stage: Stage, count: int = 1) -> Message:
    """The last of so many comparisons that ann is told of; it may come before the answer to her
    command.
    """

    def found() -> list[Message]:
        return [m for m in stage.ann.ephemerals(CHANNEL) if ids.ACTION_RUBRIC_USE in buttons(m)]

    await stage.slack.until(lambda: len(found()) >= count)
    told = found()[-1]
    assert buttons(told) == [ids.ACTION_RUBRIC_USE, ids.ACTION_RUBRIC_LEAVE]
    return told


async def asked(stage: Stage) -> Message:
    """The comparison of `code` with the judge in use."""
    await labelled(stage, LEAST)
    await say(stage, "use code")
    return await compared(stage)


async def said(stage: Stage, words: str) -> None:
    """Returns once ann is told this."""
    await stage.slack.until(lambda: any(words in m.text for m in stage.ann.ephemerals(CHANNEL)))


async def told_of(stage: Stage, number: int) -> None:
    """Returns once the log says that the person was told of a comparison, which follows the
    message.
    """
    told = select(judge_requests.c.id).filter_by(id=number, status=Progress.OFFERED)
    await stage.eventually(lambda: stage.log.database.values(told))


async def newest(stage: Stage, name: str) -> str:
    """The version that was saved last."""
    found = await stage.log.rubrics.find(*place(stage), name)
    assert found is not None
    return found.rubric.version


async def used(stage: Stage) -> str | None:
    return (await stage.log.rubrics.chosen(*place(stage))).rubric


async def test_the_judge_changes_once_when_the_button_under_the_comparison_is_pressed(
    stage: Stage,
) -> None:
    await labelled(stage, LEAST)
    stage.model.script("score: 2\nNo.")
    await say(stage, "use code")
    await said(
        stage, "This takes at most about 20,000 tokens, which count towards the day's limits"
    )
    told = await compared(stage)
    words = shown(told)
    assert (
        "*`code` and the judge in use*, on the same 10 labelled replies of this channel, 0 "
        "labelled blind."
    ) in words
    assert (
        "Distance from people's scores: 2.0 points with the current judge, 0.0 with the "
        "new one: 2.0 closer"
    ) in words
    assert "Same score as people: 0 with the current judge, 10 with the new one" in words
    assert len(prompts(stage)) == 10
    assert all("Review the code in the response" in prompt for prompt in prompts(stage))
    assert await used(stage) is None
    asked = told.blocks
    for press in [stage.ann.click(told, ids.ACTION_RUBRIC_USE) for _ in range(5)]:
        await stage.slack.settled(press)
    await said(stage, "now scored with `code`")
    assert await used(stage) == "code"
    decided, told.blocks = told.blocks, asked
    late = stage.ann.click(told, ids.ACTION_RUBRIC_USE)
    told.blocks = decided
    await stage.slack.settled(late)
    assert stage.stop_bot
    await stage.stop_bot()
    assert "now scored with `code`" in told.text
    assert CLOSED in [m.text for m in stage.ann.ephemerals(CHANNEL)]
    assert [act for act, *_ in await acts(stage)] == [Action.JUDGE_CHANGED]


@pytest.mark.parametrize(
    ("replies", "limit", "asked", "words"),
    [(10, 10 * TOKENS, 0, USED_UP.format(judge="`code`")), (12, 22 * TOKENS + 100, 11, CUT)],
)
async def test_a_comparison_asks_no_more_than_the_days_limit_leaves(
    open_stage: StageFactory, replies: int, limit: int, asked: int, words: str
) -> None:
    stage: Stage = await open_stage(max_tokens_per_day=limit)
    await labelled(stage, replies)
    await say(stage, "use code")
    assert words in shown(await compared(stage))
    assert len(stage.model.requests) == asked


async def test_a_judge_is_not_compared_with_itself(stage: Stage) -> None:
    await labelled(stage, LEAST)
    assert "already scored with `additive-5`" in await say(stage, "use additive-5")
    assert await used(stage) == "additive-5"
    assert stage.model.requests == []


async def test_an_edit_of_the_rubric_in_use_is_compared_too(stage: Stage) -> None:
    await make(stage)
    await say(stage, "use tone")
    await labelled(stage, LEAST)
    await edit(stage, "tone")
    await save(stage, "tone", f"Be strict. {TONE}")
    stage.ann.submit()
    count = len(stage.ann.ephemerals(CHANNEL))
    told = await compared(stage)
    assert all(prompt.startswith("Be strict.") for prompt in prompts(stage))
    await stage.slack.settled(stage.ann.click(told, ids.ACTION_RUBRIC_USE))
    await stage.slack.until(
        lambda: any(
            "now scored with `tone`" in m.text for m in stage.ann.ephemerals(CHANNEL)[count:]
        )
    )
    assert (await stage.log.rubrics.chosen(*place(stage))).version == await newest(stage, "tone")


async def test_replies_that_an_earlier_judge_scored_are_scored_by_both(stage: Stage) -> None:
    await labelled(stage, LEAST)
    await stage.log.rubrics.use(*place(stage), ChannelJudge("refusal"), stage.ann.id)
    case = await scored(stage, LEAST + 1, question="Question 11?", answer="Answer 11.")
    await stage.log.labels.put(case, stage.ben.id, Label(2, None))
    stage.model.requests.clear()
    stage.model.script(*["score: 2\nNo."] * 11, "score: 3\nSo so.")
    await say(stage, "use code")
    words = shown(await compared(stage))
    assert (
        "on the same 11 labelled replies of this channel, 0 labelled blind. Other judges "
        "had scored 10 of them"
    ) in words
    # In use: ten of 3 and the logged 4, where people say 2.
    assert (
        "Distance from people's scores: 1.1 points with the current judge, 0.0 with the new one"
        in words
    )
    assert prompts(stage) == [*asking("code", LEAST + 1, LEAST + 1), *asking("refusal")]


async def test_after_a_restart_it_goes_on_and_no_case_is_judged_twice(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage()
    await labelled(stage, LEAST)
    await stage.log.rubrics.use(*place(stage), ChannelJudge("refusal"), stage.ann.id)
    stage.model.script(*[GOOD] * LEAST, Held(asyncio.Event(), GOOD))
    await say(stage, "use code")
    await stage.model.asked(LEAST + 1)
    assert stage.stop_bot
    await stage.stop_bot()
    assert prompts(stage) == [*asking("code"), *asking("refusal", most=1)]
    assert [row.tokens for row in await stage.log.database.all(select(spent.c.tokens))] == [
        TOKENS
    ] * LEAST
    stage.model.requests.clear()
    stage = await open_stage()
    told = await compared(stage)
    assert "on the same 10 labelled replies" in shown(told)
    assert prompts(stage) == asking("refusal")  # the first's answer was never seen


async def test_a_judge_on_another_scale_is_asked_nothing(stage: Stage) -> None:
    await labelled(stage, LEAST)
    await make(stage, prompt=TONE.replace("0 and 5", "0 and 10"))
    await stage.log.rubrics.use(
        *place(stage), ChannelJudge("tone", await newest(stage, "tone")), stage.ann.id
    )
    await say(stage, "use code")
    assert TOO_FEW.format(judge="`code`") in shown(await compared(stage))
    assert stage.model.requests == []


async def test_a_replaced_change_asks_no_more_and_says_nothing(stage: Stage) -> None:
    await labelled(stage, LEAST)
    gate = asyncio.Event()
    stage.model.script(Held(gate, GOOD), GOOD)
    await say(stage, "use code")
    await stage.model.asked(1)
    await say(stage, "use refusal")
    gate.set()
    assert "*`refusal` and the judge in use*" in shown(await compared(stage))
    assert [each for each in prompts(stage) if each in asking("code")] == asking("code", most=1)
    assert stage.stop_bot
    await stage.stop_bot()
    assert len([m for m in stage.ann.ephemerals(CHANNEL) if buttons(m)]) == 1


async def test_an_earlier_change_is_dropped_when_the_person_asks_for_another(stage: Stage) -> None:
    first = await asked(stage)
    await say(stage, "use refusal")
    second = await compared(stage, 2)
    await say(stage, "use grounded")
    third = await compared(stage, 3)
    stage.ann.click(first, ids.ACTION_RUBRIC_USE)
    await said(stage, CLOSED)
    assert await used(stage) is None
    stage.ann.click(third, ids.ACTION_RUBRIC_USE)
    await said(stage, "now scored with `grounded`")
    stage.ann.click(second, ids.ACTION_RUBRIC_USE)
    await stage.slack.until(
        lambda: [m.text for m in stage.ann.ephemerals(CHANNEL)].count(CLOSED) == 2
    )
    assert await used(stage) == "grounded"


async def test_a_comparison_with_a_judge_no_longer_in_use_decides_nothing(stage: Stage) -> None:
    told = await asked(stage)
    await told_of(stage, 1)
    await stage.log.rubrics.use(
        *place(stage), ChannelJudge("refusal"), stage.ben.id
    )  # as an improvement does
    stage.ann.click(told, ids.ACTION_RUBRIC_USE)
    await said(stage, CLOSED)
    assert await used(stage) == "refusal"


async def test_a_judge_chosen_meanwhile_is_the_one_that_is_compared(stage: Stage) -> None:
    await labelled(stage, LEAST)
    gate = asyncio.Event()
    stage.model.script(Held(gate, GOOD))
    await say(stage, "use code")
    await stage.model.asked(1)
    await stage.log.rubrics.use(*place(stage), ChannelJudge("refusal"), stage.ben.id)
    gate.set()
    await compared(stage)
    assert sorted(prompts(stage)) == sorted(asking("code") + asking("refusal"))


async def test_a_comparison_that_is_put_aside_changes_nothing(stage: Stage) -> None:
    stage.ann.click(await asked(stage), ids.ACTION_RUBRIC_LEAVE)
    await said(stage, LEFT)
    assert await used(stage) is None


async def test_a_person_who_has_left_the_channel_decides_nothing_and_is_not_told_what_holds_there(
    stage: Stage,
) -> None:
    first = await asked(stage)
    await say(stage, "use refusal")
    second = await compared(stage, 2)
    stage.ann.leave(CHANNEL)
    stage.ann.click(first, ids.ACTION_RUBRIC_LEAVE)
    await said(stage, CLOSED)
    stage.ann.click(second, ids.ACTION_RUBRIC_USE)
    await said(stage, "Only people in this channel")
    assert await used(stage) is None


NOT_BOTH_HERE = NOT_BOTH.format(judge="`code`")


async def compared_while(stage: Stage, happens: Callable[[], object]) -> None:
    """Has `code` compared with the judge in use, while something happens."""
    await labelled(stage, LEAST)
    gate = asyncio.Event()
    stage.model.script(Held(gate, GOOD))
    await say(stage, "use code")
    await stage.model.asked(1)
    happens()
    gate.set()


async def test_a_person_who_leaves_the_channel_meanwhile_is_told_no_figures(stage: Stage) -> None:
    await compared_while(stage, lambda: stage.ann.leave(CHANNEL))
    direct = stage.slack.workspace.im(stage.ann.id).messages
    await stage.slack.until(lambda: direct)
    assert [message.text for message in direct.values()] == [NOT_BOTH_HERE]


async def test_the_figures_wait_while_slack_does_not_say_who_is_in_the_channel(
    stage: Stage,
) -> None:
    await compared_while(
        stage, lambda: stage.slack.fail("users.conversations", error="internal_error")
    )
    assert "on the same 10 labelled replies of this channel" in shown(await compared(stage))
    assert len(stage.model.requests) == 10


async def test_only_the_person_who_asked_decides(stage: Stage) -> None:
    told = await asked(stage)
    stage.ben.click(told, ids.ACTION_RUBRIC_USE)
    await stage.slack.until(lambda: [m.text for m in stage.ben.ephemerals(CHANNEL)] == [CLOSED])
    assert await used(stage) is None
    assert await JudgeRequests(stage.log.database).find(1) is not None


async def test_a_repeated_job_tells_the_person_once(stage: Stage) -> None:
    await asked(stage)
    await told_of(stage, 1)
    assert stage.services
    await run(stage.services, 1)
    assert [ids.ACTION_RUBRIC_USE in buttons(m) for m in stage.ann.ephemerals(CHANNEL)].count(
        True
    ) == 1


async def test_a_model_that_does_not_answer_changes_nothing(stage: Stage) -> None:
    await labelled(stage, LEAST)
    stage.model.script(Failure(401, message="wrong key"))
    await say(stage, "use code")
    await said(stage, NO_MODEL.format(judge="`code`"))
    assert len(stage.model.requests) == 1
    assert await used(stage) is None


async def test_a_rubric_that_is_deleted_before_its_comparison_changes_nothing(stage: Stage) -> None:
    await labelled(stage, LEAST)
    queries = JudgeRequests(stage.log.database)
    await queries.begin(Aim.COMPARE, *place(stage), stage.ann.id, ChannelJudge("tone", "00000000"))
    await said(stage, GONE.format(judge="`tone`"))

    async def is_gone() -> bool:
        return await queries.find(1) is None

    await stage.eventually(is_gone)
    assert stage.model.requests == []


async def test_a_judge_changes_at_once_where_labels_are_few(stage: Stage) -> None:
    await labelled(stage, LEAST - 1)
    said = await say(stage, "use code")
    assert said.endswith(TOO_FEW_LABELS)
    assert await used(stage) == "code"
    assert stage.model.requests == []
