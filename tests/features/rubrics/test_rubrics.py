"""A channel's own judge: chosen, made and changed in Slack, and what is scored by it."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.domain.case import CaseStatus
from bot.features.rubrics import ids, text
from bot.features.rubrics.text import (
    NEW_JUDGE,
    NO_MODELS,
    SHIPPED_NAME,
    TAKEN_NAME,
    is_name,
    no_model,
    no_rubric,
    not_made_here,
    used,
)
from bot.slack import ids as slack_ids
from bot.store.audit import Action
from bot.store.rubrics import ChannelJudge
from judge import list_rubrics, load_rubric, render_prompt
from pocket_slack import Delivery, Person, View
from tests.cases import TONE, keep_rubric, noted
from tests.gestures import link, scored
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, StageFactory, buttons, shown
from tests.tables import each


async def say(stage: Stage, text: str) -> str:
    """What ann is told after `/judge rubric ...`."""
    before = len(stage.ann.ephemerals(CHANNEL))
    stage.ann.command(CHANNEL, slack_ids.COMMAND, f"rubric {text}".strip())
    return (await stage.told(stage.ann, before + 1)).text


async def use(stage: Stage, text: str) -> str:
    """What ann is told after `/judge rubric use ...` and the button that it comes with."""
    await say(stage, f"use {text}")
    return await confirm(stage)


async def confirm(stage: Stage) -> str:
    """Presses the button of the last message, which asks first, and returns what it then says."""
    asked = stage.ann.ephemerals(CHANNEL)[-1]
    stage.ann.click(asked, ids.ACTION_RUBRIC_USE)
    await stage.slack.until(lambda: not buttons(asked))
    return asked.text


async def edit(stage: Stage, name: str = "", person: Person | None = None) -> View:
    """The window with the whole prompt."""
    who = person or stage.ann
    who.command(CHANNEL, slack_ids.COMMAND, f"rubric edit {name}".strip())
    view = await stage.modal(who)
    if ids.ACTION_RUBRIC_ADVANCED in str(view.body):
        before = view.hash
        who.click(view, ids.ACTION_RUBRIC_ADVANCED)
        await stage.slack.until(lambda: view.hash != before)
    return view


async def save(stage: Stage, name: str, prompt: str) -> Delivery:
    values = {ids.BLOCK_NAME: name, ids.BLOCK_PROMPT: prompt}
    return await stage.slack.settled(stage.ann.submit(values))


async def saved_as(stage: Stage, name: str, prompt: str) -> str:
    """What ann is told after she has saved a rubric."""
    before = len(stage.ann.ephemerals(CHANNEL))
    await save(stage, name, prompt)
    return shown(await stage.told(stage.ann, before + 1))


async def make(stage: Stage, name: str = "tone", prompt: str = TONE) -> None:
    """A rubric that ann makes, and does not use yet."""
    await edit(stage, name if await stage.log.rubrics.find(*place(stage), name) else "")
    assert "is saved as version" in await saved_as(stage, name, prompt)


def place(stage: Stage) -> tuple[str, str]:
    workspace = stage.slack.workspace
    return workspace.team_id, workspace.channel(CHANNEL).id


def prompts(stage: Stage) -> list[str]:
    """What the model was sent, in turn."""
    return [request["messages"][0]["content"] for request in stage.model.requests]


async def press(stage: Stage, action: str, name: str) -> None:
    """Presses a button of the list of rubrics."""
    await say(stage, "")
    listed = stage.ann.ephemerals(CHANNEL)[-1]
    row = next(block for block in listed.blocks if f"'value': '{name}'" in str(block))
    stage.ann.click(listed, f"{ids.ACTION_RUBRIC}{action}", block_id=row["block_id"])


async def test_each_rubric_has_buttons_to_use_view_and_edit_it(stage: Stage) -> None:
    await press(stage, "use", "code")
    await stage.told(stage.ann, 2)
    assert "now scored with `code`" in await confirm(stage)
    await press(stage, "view", "refusal")
    view = shown(await stage.modal(stage.ann))
    assert "What it looks for\nFirst decide what a careful expert would do" in view
    await press(stage, "edit", "refusal")
    await stage.slack.until(
        lambda: stage.ann.view and "based on `refusal`" in shown(stage.ann.view)
    )


async def test_the_judge_changes_once_a_button_is_pressed_that_says_what_that_means(
    stage: Stage,
) -> None:
    assert await say(stage, "use default") == text.unchanged(ChannelJudge(), "additive-5")
    assert (await say(stage, "use code")).endswith(f"`code` from now on? This {NEW_JUDGE}")
    assert await stage.log.rubrics.chosen(*place(stage)) == ChannelJudge()
    asked = stage.ann.ephemerals(CHANNEL)[-1]
    for _ in range(3):
        stage.ann.click(asked, ids.ACTION_RUBRIC_USE)
    await stage.slack.until(lambda: not buttons(asked))
    await stage.stop_bot()
    assert await stage.log.rubrics.chosen(*place(stage)) == ChannelJudge("code")
    assert [what for _, what, _ in await noted(stage.log)] == [Action.JUDGE_CHANGED]


async def test_what_the_button_asked_about_is_used_whatever_is_saved_meanwhile(
    stage: Stage,
) -> None:
    await make(stage)
    asked_about = await stage.log.rubrics.find(*place(stage), "tone")
    await say(stage, "use tone")
    await keep_rubric(stage.log, replace(asked_about, number=2, prompt=f"Be strict. {TONE}"))
    await confirm(stage)
    chosen = await stage.log.rubrics.chosen(*place(stage))
    assert chosen.version == asked_about.rubric.version


async def test_a_person_who_has_left_the_channel_changes_no_judge_and_saves_nothing(
    stage: Stage,
) -> None:
    await say(stage, "use code")
    asked = stage.ann.ephemerals(CHANNEL)[-1]
    await edit(stage)
    stage.ann.leave(CHANNEL)
    await save(stage, "tone", TONE)
    refusal = (await stage.modal(stage.ann)).errors[ids.BLOCK_NAME]
    assert refusal.startswith("Only people in this channel")
    stage.ann.click(asked, ids.ACTION_RUBRIC_USE)
    await stage.slack.until(lambda: refusal in [m.text for m in stage.ann.ephemerals(CHANNEL)])
    assert await noted(stage.log) == []


@pytest.mark.needs("watch")
async def test_a_channel_with_figures_is_told_of_another_judge(stage: Stage) -> None:
    await use(stage, "code")
    stage.ann.command(CHANNEL, slack_ids.COMMAND, "watch @helper all alert off")
    await stage.told(stage.ann, 2)
    before = len(stage.ours())
    await use(stage, "refusal")
    (told,) = stage.ours()[before:]
    assert told.text.startswith(f"<@{stage.ann.id}> changed how replies in <#{place(stage)[1]}>")


async def test_every_entry_scores_by_the_channels_rubric_and_again_by_the_one_chosen_since(
    stage: Stage,
) -> None:
    _, answer = stage.ask_and_answer()
    await stage.slack.settled(stage.ann.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer))
    await stage.reaches(1, CaseStatus.DELIVERED)
    await use(stage, "code")
    await stage.score(answer)
    known = await stage.told(stage.ann, 2)
    await stage.slack.settled(stage.ann.click(known, slack_ids.ACTION_AGAIN))
    parent, answer = stage.ask_and_answer()
    for words in (link(stage, answer), f"{QUESTION} | {ANSWER}"):
        await stage.slack.settled(stage.ann.command(CHANNEL, slack_ids.COMMAND, words))
    await stage.reaches(3, CaseStatus.DELIVERED)
    parent, _ = stage.ask_and_answer("What else?", "Nothing else.")
    stage.ann.post(CHANNEL, "@Slack Judge score this", thread_ts=parent.ts)
    await stage.verdict(parent)
    found = [(await stage.reaches(n, CaseStatus.DELIVERED)).rubric for n in range(1, 6)]
    assert found == ["additive-5", *["code"] * 4]
    assert prompts(stage).count(render_prompt(load_rubric("code"), QUESTION, ANSWER)) == 3


async def test_the_window_begins_with_the_channels_rubric_and_a_choice_there_goes_before(
    stage: Stage,
) -> None:
    await make(stage)
    await use(stage, "tone")
    stage.ann.command(CHANNEL, slack_ids.COMMAND)
    view = await stage.modal(stage.ann)
    blocks = {block.get("block_id"): block for block in view.body["blocks"]}
    element = blocks[slack_ids.BLOCK_RUBRIC]["element"]
    assert element["initial_option"]["value"] == element["options"][0]["value"] == "tone"
    assert len(element["options"]) == len(list_rubrics()) + 1
    values = {slack_ids.BLOCK_QUESTION: QUESTION, slack_ids.BLOCK_RESPONSE: ANSWER}
    await stage.fill_in(stage.ann, values | {slack_ids.BLOCK_RUBRIC: "refusal"})
    assert (await stage.reaches(1, CaseStatus.DELIVERED)).rubric == "refusal"


async def test_only_a_model_of_the_list_can_be_chosen_and_stays_until_another_is(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage(judge_models="large, larger")
    assert await say(stage, "use code huge") == no_model("huge", ["large", "larger"])
    for words, name, model in (
        ("code large", "code", "large"),
        ("refusal", "refusal", "large"),
        ("refusal default", "refusal", None),
    ):
        assert await use(stage, words) == used(ChannelJudge(name, None, model), "additive-5")
        await scored(stage)
    models = [request["model"] for request in stage.model.requests]
    assert models == ["large", "large", stage.services.settings.judge_model]


async def test_the_operators_rubric_is_found_by_its_name_in_any_case_and_what_is_not_is_said(
    open_stage: StageFactory, tmp_path: Path
) -> None:
    file = tmp_path / "OurTone.txt"
    file.write_text(TONE, encoding="utf-8")
    stage: Stage = await open_stage(judge_rubric=str(file))
    assert await say(stage, "use tune") == no_rubric("tune", ["OurTone", *list_rubrics()])
    assert await say(stage, "delete code") == not_made_here("code")
    assert await say(stage, "use code large") == NO_MODELS
    assert "I do not know 'use'" in await say(stage, "use")
    await use(stage, "Code")
    await edit(stage, "OURTONE")
    refused = (await save(stage, "ourtone", TONE)).response
    assert refused["errors"] == {ids.BLOCK_NAME: SHIPPED_NAME}


async def test_a_rubric_is_made_from_another_and_scores_by_the_text_as_typed(stage: Stage) -> None:
    view = await edit(stage)
    inputs = [block for block in view.body["blocks"] if "element" in block]
    values = [block["element"].get("initial_value") for block in inputs]
    assert values == [None, load_rubric("additive-5").prompt.strip()]
    said = await saved_as(stage, "Tone", TONE)
    saved = await stage.log.rubrics.find(*place(stage), "tone")
    assert (saved.prompt, saved.number, saved.saved_by) == (TONE, 1, stage.ann.id)
    assert f"`tone` is saved as version {saved.rubric.version}, from 0 to 5." in said
    await scored(stage)
    assert (await stage.log.cases.get(1)).rubric == "additive-5"
    assert "now scored with `tone`" in await confirm(stage)
    await scored(stage, answer="Another answer.")
    assert prompts(stage)[-1] == render_prompt(saved.rubric, QUESTION, "Another answer.")
    assert (await stage.log.cases.verdict(2)).rubric_version == saved.rubric.version
    _, channel_id = place(stage)
    assert await noted(stage.log) == [
        (stage.ann.id, Action.RUBRIC_SAVED, channel_id),
        (stage.ann.id, Action.JUDGE_CHANGED, channel_id),
    ]


async def test_what_a_rubric_looks_for_is_edited_alone_and_the_rest_of_the_prompt_stays(
    stage: Stage,
) -> None:
    stage.ann.command(CHANNEL, slack_ids.COMMAND, "rubric edit")
    view = await stage.modal(stage.ann)
    looks_for = view.body["blocks"][2]["element"]["initial_value"]
    assert looks_for.startswith("Points are accumulated")
    assert "<question>" not in shown(view)
    values = {ids.BLOCK_NAME: "kind", ids.BLOCK_LOOKS_FOR: "Is it kind?"}
    for refused, why in {"Is {response} kind?": "{response} stands", "   ": text.NOTHING}.items():
        wrong = await stage.slack.settled(stage.ann.submit(values | {ids.BLOCK_LOOKS_FOR: refused}))
        assert wrong.response["errors"][ids.BLOCK_LOOKS_FOR].startswith(why)
    await stage.slack.settled(stage.ann.submit(values))
    saved = await stage.log.rubrics.find(*place(stage), "kind")
    shipped = load_rubric("additive-5").prompt
    assert saved.prompt.strip() == shipped.replace(looks_for, "Is it kind?").strip()


async def test_the_later_of_two_who_edit_at_once_is_told_and_nothing_is_lost(stage: Stage) -> None:
    await make(stage)
    for person in (stage.ann, stage.ben):
        await edit(stage, "tone", person)
    await save(stage, "tone", f"Ann's. {TONE}")
    values = {ids.BLOCK_PROMPT: f"Ben's. {TONE}"}
    await stage.slack.settled(stage.ben.submit(values))
    view = await stage.modal(stage.ben)
    assert view.errors[ids.BLOCK_NAME] == TAKEN_NAME.format(name="tone")
    await stage.slack.settled(stage.ben.submit(values | {ids.BLOCK_NAME: "bens"}))
    kept = await stage.log.rubrics.newest(*place(stage))
    assert [(saved.name, saved.number) for saved in kept] == [("bens", 1), ("tone", 2)]
    assert kept[1].prompt == f"Ann's. {TONE}"


async def test_a_rubric_is_deleted_once_a_button_is_pressed_unless_it_is_in_use(
    stage: Stage,
) -> None:
    await make(stage)
    await use(stage, "tone")
    assert await say(stage, "delete tone") == text.not_deleted_in_use("tone")
    await use(stage, "default")
    await say(stage, "delete tone")
    asked = stage.ann.ephemerals(CHANNEL)[-1]
    assert len(await stage.log.rubrics.newest(*place(stage))) == 1
    stage.ann.click(asked, ids.ACTION_RUBRIC_DELETE)
    await stage.slack.until(lambda: asked.text == text.deleted("tone"))
    assert await stage.log.rubrics.newest(*place(stage)) == []


@each("name", ["tone", "ton-freundlich-1", "größe", "x" * 40])
def test_a_name_is_of_words_in_small_letters(name: str) -> None:
    assert is_name(name)
    wrong = ("", "default", "x" * 41, *(f"{name}{end}" for end in ("-", "--x", " a", "_a", "`")))
    assert not any(map(is_name, wrong))
