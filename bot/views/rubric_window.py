"""The window in which a rubric is made, and what it shows once that is saved."""

from typing import Any

from bot.domain.rubric import LONGEST_NAME, MOST_RUBRICS, is_name
from bot.slack import ids
from bot.slack.modal_state import ModalState
from bot.slack.mrkdwn import escape
from bot.views.elements import Block, context, modal, plain, quotes, run, section
from bot.views.modals import MAX_INPUT
from judge import Rubric, RubricError, render_prompt

LONGEST_PROMPT = 2 * MAX_INPUT
EXAMPLE = ("How do I undo my last commit?", "Run git reset --soft HEAD~1; the changes stay staged.")
"""The question and the response in the preview."""

_TITLE = "Rubric"
_ROOM = 2900
_NEW = "A new rubric for <#{channel}>, begun from `{name}`."
_CHANGE = "A change of `{name}` in <#{channel}>; under another name it is a new rubric."
_HOW = (
    "The prompt as the model gets it. It needs `<question>{prompt}</question>` and `<response>{response}</response>`, "
    'once each; the scale, in the words "is between 0 and 5"; and it asks for a line `score: N`.'
)
_BAD_NAME = f"Up to {LONGEST_NAME} lower-case letters and digits, with single hyphens between them."
_NO_FORMAT = 'The prompt does not say how to answer; ask for a line such as "score: <number>", and for why.'
_SHIPPED_NAME = "A rubric that comes with the app has this name; choose another."
_TAKEN_NAME = (
    "There is one of this name in this channel; choose another, or close this and type /judge rubric edit {name}"
)
TOO_MANY = (
    f"This channel has {MOST_RUBRICS} rubrics of its own, and can have no more: delete one first "
    "(/judge rubric delete NAME), or change one (/judge rubric edit NAME)."
)
_SAVED_MEANWHILE = (
    "Somebody has saved another version since you opened this window. Yours is here alone: save it under another name, "
    "or copy it and type /judge rubric edit {name}"
)
NOT_HERE = "You can no longer change this channel's rubrics: {why}"


def fits(prompt: str) -> bool:
    """Whether the window can hold a prompt."""
    first, rest = _parted(prompt)
    return len(first) <= MAX_INPUT and len(rest) <= MAX_INPUT


def rubric_modal(state: ModalState, rubric: Rubric) -> dict[str, Any]:
    """The window with a rubric: to change, where `state` names one, and else to begin a new one with."""
    first, rest = _parted(rubric.prompt)
    about = (_CHANGE if state.rubric else _NEW).format(name=rubric.name, channel=state.channel_id)
    blocks = [
        section(f"{about}\n{_HOW}"),
        _input(ids.BLOCK_NAME, "Name", state.rubric or "", LONGEST_NAME, is_long=False),
        _input(ids.BLOCK_PROMPT, "Prompt", first, MAX_INPUT),
        _input(ids.BLOCK_PROMPT_REST, "Prompt, continued if it needs more room", rest, MAX_INPUT, is_optional=True),
        context("Two fields, since Slack takes 3,000 characters in each: they are one text, broken at a line end."),
    ]
    return modal(ids.VIEW_RUBRIC, _TITLE, state, blocks, "Save", "Cancel")


def saved_modal(state: ModalState, rubric: Rubric) -> dict[str, Any]:
    """The window after a rubric was saved: what the model will get, with example texts; it offers to use it."""
    low, high = rubric.scale
    blocks = [
        section(
            f"`{rubric.name}` is saved as version {rubric.version}, from {low} to {high}. "
            "It scores nothing until it is used."
        ),
        *quotes(render_prompt(rubric, *EXAMPLE), _ROOM, run("What the model gets, for an example", is_bold=True)),
    ]
    return modal(ids.VIEW_RUBRIC_SAVED, _TITLE, state, blocks, "Use it here", "Not now")


def errors(name: str, prompt: str, *, is_shipped: bool) -> dict[str, str]:
    """What is wrong with a typed rubric, by input; empty where it is one.

    `is_shipped` is whether one that comes with the app has this name.
    """
    found = {}
    if not is_name(name):
        found[ids.BLOCK_NAME] = _BAD_NAME
    elif is_shipped:
        found[ids.BLOCK_NAME] = _SHIPPED_NAME
    try:
        Rubric(name, prompt)
    except RubricError as exc:
        found[ids.BLOCK_PROMPT] = str(exc).removeprefix(f"rubric {name!r}: ")
    else:
        if "score:" not in prompt.lower():
            found[ids.BLOCK_PROMPT] = _NO_FORMAT
    return found


def taken(name: str, *, is_new: bool) -> dict[str, str]:
    """The error for a name that somebody else has saved a rubric under; nothing of theirs is replaced."""
    return {ids.BLOCK_NAME: (_TAKEN_NAME if is_new else _SAVED_MEANWHILE).format(name=name)}


def message_modal(text: str) -> dict[str, Any]:
    """The window in place of itself, with a sentence."""
    return {"type": "modal", "title": plain(_TITLE), "close": plain("Close"), "blocks": [section(escape(text))]}


def _parted(prompt: str) -> tuple[str, str]:
    """The prompt in two fields, broken where one line follows another: Slack may drop blanks at a field's edges."""
    text = prompt.strip()
    if len(text) <= MAX_INPUT:
        return text, ""
    ends = (at for at in range(MAX_INPUT, 0, -1) if text[at] == "\n" and "\n" not in (text[at - 1], text[at + 1]))
    at = next(ends, MAX_INPUT + 1)
    return text[:at], text[at + 1 :]


def _input(
    block_id: str, label: str, initial: str, most: int, *, is_long: bool = True, is_optional: bool = False
) -> Block:
    element: dict[str, Any] = {
        "type": "plain_text_input",
        "action_id": block_id,
        "multiline": is_long,
        "max_length": most,
    }
    if initial:
        element["initial_value"] = initial
    return {"type": "input", "block_id": block_id, "label": plain(label), "element": element, "optional": is_optional}
