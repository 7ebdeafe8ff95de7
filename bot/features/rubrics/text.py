"""The messages and windows of `/judge rubric`."""

import re
from collections.abc import Sequence
from dataclasses import replace

from bot.features.rubrics import ids
from bot.features.rubrics.queries import MOST_RUBRICS
from bot.pipeline.text import MAX_INPUT, parts_of
from bot.slack import blocks as ui
from bot.slack.invocation import Raw, typed, values_of
from bot.slack.messenger import Post, as_post, to_post
from bot.slack.mrkdwn import clip
from bot.store.rubrics import ChannelJudge, SavedRubric
from judge import Rubric, RubricError
from judge.scoring.numbers import number_of
from judge.scoring.rubric import purpose_of

DEFAULT = "default"
"""In place of a rubric's name: the one in the app's settings."""
LONGEST_NAME = 40
_A_NAME = re.compile(r"[^\W_]+(-[^\W_]+)*")
HELP = """\
• `/judge rubric` lists the rubrics, with buttons to use, view and edit them
• `/judge rubric use NAME` scores this channel's replies with a rubric, `/judge rubric use default` with the app's own
• `/judge rubric edit NAME` opens a window to make your own version; without a name it begins with the default
• `/judge rubric delete NAME` deletes a rubric made here, with all its versions"""
NO_MODELS = (
    "No other models are offered here; the setting JUDGE_MODELS lists those that are. Without a "
    "model, `/judge rubric use NAME` works."
)
TOO_LONG_TO_EDIT = "That rubric is longer than a Slack window allows, so it cannot be edited here."
NEW_JUDGE = (
    "makes a new judge, whose scores are never compared with the old one's: a week's figures are "
    "those of the judge that scored most of it, and alerts begin anew."
)
"""Said of each change before it is made, and to those who did not make it."""
_TITLE = "Rubric"
ROOM = 2900
_REMEMBERED = 2000  # characters; Slack allows 3,000 for all that a window remembers
_NEW = "A new rubric for <#{channel}>, based on `{name}`."
_CHANGE = "A new version of `{name}` in <#{channel}>. Another name makes a new rubric."
_LOOKS_FOR = "What it looks for"
_HOW = (
    "This is the prompt that the model gets. It must have `<question>{prompt}</question>` and "
    '`<response>{response}</response>` once each, state the scale as "is between 0 and 5", '
    "and ask for `score: N`."
)
BAD_NAME = f"Use up to {LONGEST_NAME} lower-case letters, digits and single hyphens."
NO_FORMAT = (
    'The prompt does not say how to answer. Ask for a line such as "score: <number>", and for '
    "the reason."
)
NOTHING = "Say what the judge should look for."
SHIPPED_NAME = "A rubric of the app has this name. Choose another."
TAKEN_NAME = (
    "This channel has another version of that rubric. Choose another name, or copy yours, close "
    "this and type /judge rubric edit {name}"
)
TOO_MANY = (
    f"This channel has {MOST_RUBRICS} rubrics of its own, which is the limit. Delete one first "
    "(/judge rubric delete NAME), or change one (/judge rubric edit NAME)."
)


class RubricState(ui.ModalState):
    """What the window remembers: the rubric of which it makes a new version, or else the one that a
    new rubric is based on; and the prompt around what it looks for.
    """

    based_on: str = ""
    lead: str = ""
    rest: str = ""


def state(
    chosen: ChannelJudge,
    default: str,
    shipped: Sequence[str],
    own: Sequence[SavedRubric],
    models: Sequence[str],
) -> Post:
    """The channel's judge, and the rubrics that it can choose, each with its buttons."""
    if chosen.model not in models:  # no longer offered
        chosen = replace(chosen, model=None)
    by = "the app's default" if chosen == ChannelJudge() else "chosen for this channel"
    head = f"Replies in this channel are scored with {named(chosen, default)}, {by}."
    if chosen.reference:
        head += (
            f"\nThey are compared with a reference of {len(chosen.reference):,} characters: "
            "`/judge reference`."
        )
    in_use = chosen.rubric or default
    blocks = [ui.section(head)]
    for saved in own:
        is_used = saved.name == in_use and chosen.version == saved.rubric.version
        blocks += _item(_own(saved, chosen, in_use), saved.name, is_used, "Edit")
    names = {saved.name for saved in own}  # the channel's own goes before
    for name in [name for name in shipped if name not in names]:
        line = f"{_marked(name, in_use)}: {purpose_of(name) or 'the default of this app'}"
        is_used = name == in_use and chosen.version is None
        blocks += _item(line, name, is_used, "Edit a copy")
    return Post(head, [*blocks, ui.context(_hint(models))])


def _item(line: str, name: str, is_used: bool, edit: str) -> Sequence[ui.Block]:
    """A rubric of the list, with its buttons."""
    buttons = [("View", "view"), (edit, "edit")]
    if not is_used:
        buttons.insert(0, ("Use here", "use"))
    elements = (ui.button(label, f"{ids.ACTION_RUBRIC}{word}", name) for label, word in buttons)
    return [ui.section(line), ui.actions(*elements)]


def _hint(models: Sequence[str]) -> str:
    hint = f"`/judge rubric use {DEFAULT}` goes back to the app's default."
    if models:
        hint += (
            f" `/judge rubric use NAME MODEL` also chooses the model: {_listed(models)}, or "
            f"{DEFAULT}."
        )
    return hint


def ask_to_use(judge: ChannelJudge, default: str, value: str) -> Post:
    """Asks before the judge changes; the button sends back `value`."""
    text = f"Score replies here with {named(judge, default)} from now on? This {NEW_JUDGE}"
    button = ui.button("Use it", ids.ACTION_RUBRIC_USE, value)
    return to_post(text, ui.actions(button))


def used(judge: ChannelJudge, default: str) -> str:
    return f"Replies in this channel are now scored with {named(judge, default)}."


def used_by(user_id: str, channel_id: str, judge: ChannelJudge, default: str) -> str:
    """The message for others."""
    return (
        f"<@{user_id}> changed how replies in <#{channel_id}> are scored: now with "
        f"{named(judge, default)}. This {NEW_JUDGE}"
    )


def unchanged(judge: ChannelJudge, default: str) -> str:
    return f"Replies in this channel are already scored with {named(judge, default)}."


def named(judge: ChannelJudge, default: str) -> str:
    with_model = f" and the model {_ticked(judge.model)}" if judge.model else ""
    return f"{_ticked(judge.rubric or default)}{with_model}"


def no_rubric(name: str, names: Sequence[str]) -> str:
    return f"There is no rubric {_ticked(name)} here. Choose one of {_ticked(*names)}."


def needs_reference(name: str) -> str:
    return (
        f"{_ticked(name)} compares with a reference, and this channel has none. "
        "`/judge reference` sets one."
    )


def no_model(name: str, models: Sequence[str]) -> str:
    return (
        f"The model {_ticked(name)} is not offered. Choose one of {_listed(models)}."
        if models
        else NO_MODELS
    )


def ask_to_delete(saved: SavedRubric) -> Post:
    text = (
        f"Delete the rubric {_ticked(saved.name)}, with all its versions? Its scores stay. You "
        "cannot undo this."
    )
    go = ui.button("Delete it", ids.ACTION_RUBRIC_DELETE, saved.name) | {"style": "danger"}
    return to_post(text, ui.actions(go))


def deleted(name: str) -> str:
    return f"The rubric {_ticked(name)} is deleted, with all its versions. Its scores stay."


def not_made_here(name: str) -> str:
    return f"No rubric {_ticked(name)} was made in this channel."


def not_deleted_in_use(name: str) -> str:
    return f"{_ticked(name)} is in use. Choose another first: `/judge rubric use default`."


def _own(saved: SavedRubric, chosen: ChannelJudge, in_use: str) -> str:
    version = saved.rubric.version
    versions = number_of(saved.number, "version")
    line = (
        f"{_marked(saved.name, in_use)}: made here, {versions}, last saved "
        f"{saved.saved_at:%Y-%m-%d} ({version})"
    )
    if chosen.rubric == saved.name and chosen.version != version:
        line += f"; {chosen.version} is in use, and *Use here* switches to the newest"
    return line


def _marked(name: str, in_use: str) -> str:
    return f"*{_ticked(name)} (in use)*" if name == in_use else _ticked(name)


def _listed(models: Sequence[str]) -> str:
    return clip(", ".join(models), 300)


def _ticked(*names: str) -> str:
    return ", ".join(f"`{clip(each)}`" for each in names)


def prompt_block(body: Raw) -> str:
    """Where the prompt is typed: all of it, or what it looks for."""
    values = values_of(body)
    return ids.BLOCK_LOOKS_FOR if ids.BLOCK_LOOKS_FOR in values else ids.BLOCK_PROMPT


def typed_rubric(body: Raw) -> tuple[str, str]:
    """The name and the prompt."""
    values = values_of(body)
    block = prompt_block(body)
    prompt = typed(values, block)
    if block == ids.BLOCK_LOOKS_FOR:
        state = RubricState.of(body["view"])
        prompt = f"{state.lead}{prompt}{state.rest}"
    return typed(values, ids.BLOCK_NAME).lower(), f"{prompt.strip()}\n"


def is_name(text: str) -> bool:
    return len(text) <= LONGEST_NAME and bool(_A_NAME.fullmatch(text)) and text != DEFAULT


def begin_modal(state: RubricState, prompt: str, new_name: str = "") -> ui.Block:
    """The window to edit a rubric, with what it looks for; or with its prompt, if that says it
    elsewhere.
    """
    lead, looks_for, rest = parts_of(prompt)
    if not looks_for or len(lead) + len(rest) > _REMEMBERED:
        return rubric_modal(state, new_name, prompt)
    state = state.model_copy(update={"lead": lead, "rest": rest})
    box = ui.text_box(ids.BLOCK_LOOKS_FOR, MAX_INPUT, looks_for)
    blocks = [
        *_about(state, new_name),
        ui.field(_LOOKS_FOR, box),
        ui.actions(ui.button("Advanced: the whole prompt", ids.ACTION_RUBRIC_ADVANCED)),
    ]
    return ui.modal(ids.VIEW_RUBRIC, _TITLE, state, blocks, "Save", "Cancel")


def rubric_modal(state: RubricState, name: str, prompt: str) -> ui.Block:
    """The window to edit a rubric, with its whole prompt."""
    box = ui.text_box(ids.BLOCK_PROMPT, MAX_INPUT, prompt.strip())
    blocks = [*_about(state, name), ui.context(_HOW), ui.field("Prompt", box)]
    return ui.modal(ids.VIEW_RUBRIC, _TITLE, state, blocks, "Save", "Cancel")


def _about(state: RubricState, name: str) -> list[ui.Block]:
    """What the window makes: a new version if `state` names a rubric, otherwise one based on
    another.
    """
    about = _CHANGE if state.rubric else _NEW
    box = ui.text_box(ids.BLOCK_NAME, LONGEST_NAME, name or state.rubric)
    box["multiline"] = False
    base = state.rubric or state.based_on
    return [ui.section(about.format(name=base, channel=state.channel_id)), ui.field("Name", box)]


def saved(rubric: Rubric, asking: Post | str) -> Post:
    """Says that a rubric is saved, before what it is asked whether to use it."""
    low, high = rubric.scale
    text = f"{_ticked(rubric.name)} is saved as version {rubric.version}, from {low} to {high}."
    more = as_post(asking)
    return Post(f"{text} {more.text}", [ui.section(text), *more.blocks])


def view_modal(rubric: Rubric) -> ui.Block:
    low, high = rubric.scale
    head = f"*{_ticked(rubric.name)}*, from {low} to {high}"
    purpose = purpose_of(rubric.name)
    looks_for = parts_of(rubric.prompt)[1]
    title = _LOOKS_FOR if looks_for else "What the model gets, without question and response"
    blocks = [
        ui.section(f"{head}\n{purpose}" if purpose else head),
        *ui.quotes(looks_for or rubric.prompt, ROOM, ui.run(title, is_bold=True)),
    ]
    return ui.page(_TITLE, blocks)


def errors(name: str, prompt: str, block: str, *, is_shipped: bool) -> dict[str, str]:
    """What is wrong with a typed rubric, by input block; empty if valid.

    `is_shipped`: the app has that name. The prompt was typed in `block`.
    """
    problems = {}
    if not is_name(name):
        problems[ids.BLOCK_NAME] = BAD_NAME
    elif is_shipped:
        problems[ids.BLOCK_NAME] = SHIPPED_NAME
    try:
        Rubric(name, prompt)
    except RubricError as exc:
        problems[block] = str(exc).removeprefix(f"rubric {name!r}: ")
    else:
        if block == ids.BLOCK_LOOKS_FOR and not parts_of(prompt)[1]:
            problems[block] = NOTHING
        elif "score:" not in prompt.lower():
            problems[block] = NO_FORMAT
    return problems
