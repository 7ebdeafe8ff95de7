"""What `/judge rubric` says: which rubrics there are, which one is used, and what becomes of a change; its windows."""

from collections.abc import Sequence
from typing import Any

from bot.domain.rubric import DEFAULT, LONGEST_NAME, MOST_RUBRICS, ChannelJudge, SavedRubric, is_name
from bot.pipeline.text import MAX_INPUT
from bot.slack import ids
from bot.slack.blocks import Block, ModalState, context, modal, plain, quotes, run, section
from bot.slack.members import NoAccess, NoAccessReason
from bot.slack.mrkdwn import clip, escape
from bot.store.rubrics import ChannelReplay
from judge import Rubric, RubricError, render_prompt
from judge.rubric import purpose_of

_NAME, _MODELS = 80, 300
_HELP = """\
• `/judge rubric use NAME` has replies of this channel scored by it; `/judge rubric use default` goes back
• `/judge rubric edit NAME` opens a window with its text, to make one of your own; without a name, with the usual one
• `/judge rubric delete NAME` deletes one that was made here, with all of its versions
• `/judge rubric` says what there is"""
_NO_ACCESS = {
    NoAccessReason.DIRECT_MESSAGES: "Rubrics are chosen and made in a channel; type that there.",
    NoAccessReason.APP_IS_NOT_IN: "I am not in this channel. Type `/invite @Slack Judge` first.",
    NoAccessReason.PERSON_IS_NOT_IN: "Only people in this channel can see or change its rubrics.",
    NoAccessReason.GUEST: "Guests cannot change a channel's rubrics; ask a member of this workspace.",
    NoAccessReason.NOT_AN_ADMIN: "Only admins of this workspace can change rubrics here (setting DIGEST_BY).",
}
FOREIGN_RUBRIC = "This channel's rubrics are for the people of the workspace that the app belongs to."
NO_MODELS = (
    "No model can be chosen here: whoever runs the app lists those that can in the setting JUDGE_MODELS. Without a "
    "model, `/judge rubric use NAME` works."
)
TOO_LONG_TO_EDIT = "That rubric is longer than a window of Slack's takes, so it cannot be edited here."
_LINE_BREAKS = "From now on figures begin anew: those of two judges are never joined in one line."


def state(
    chosen: ChannelJudge,
    default: str,
    shipped: Sequence[str],
    own: Sequence[SavedRubric],
    models: Sequence[str],
    wish: ChannelReplay | None,
) -> str:
    by = "as this channel has chosen" if chosen != ChannelJudge() else "as the app is set"
    lines = [f"Replies in this channel are scored by {named(chosen, default)}, {by}."]
    if chosen.model and chosen.model not in models:
        lines.append(f"The model {_ticked(chosen.model)} is no longer offered, so the app's own is asked.")
    if wish:
        stands = "knows how it compares, and has not decided yet" if wish.told_at else "which is being compared"
        lines.append(f":hourglass: <@{wish.user_id}> asked for {named(wish.judge, default)}, {stands}.")
    made = {saved.name for saved in own}
    in_use = chosen.rubric or default
    for name in shipped:
        if name not in made:
            purpose = purpose_of(name) or f"of whoever runs the app; `{DEFAULT}` goes back to it"
            lines.append(f"• {_marked(name, in_use)}: {purpose}")
    lines += [_own(saved, chosen, in_use) for saved in own]
    lines += ["", _HELP]
    if models:
        offered = f"{_listed(models)}, or {DEFAULT}, the app's own"
        lines.append(f"• `/judge rubric use NAME MODEL` also chooses the model: {offered}")
    return "\n".join(lines)


def used(judge: ChannelJudge, default: str) -> str:
    return f"Replies in this channel are now scored by {named(judge, default)}. {_LINE_BREAKS}"


def unchanged(judge: ChannelJudge, default: str) -> str:
    """That was chosen before."""
    return f"Replies in this channel are scored by {named(judge, default)} already."


def named(judge: ChannelJudge, default: str) -> str:
    with_model = f" with the model {_ticked(judge.model)}" if judge.model else ""
    return f"{_ticked(judge.rubric or default)}{with_model}"


def no_rubric(name: str, names: Sequence[str]) -> str:
    return f"There is no rubric {_ticked(name)} here. There are {_ticked(*names)}."


def no_model(name: str, models: Sequence[str]) -> str:
    return f"The model {_ticked(name)} is not offered. There are {_listed(models)}." if models else NO_MODELS


def deleted(name: str) -> str:
    return f"The rubric {_ticked(name)} is deleted, with all of its versions. Scores that it gave stay."


def not_made_here(name: str, own: Sequence[str]) -> str:
    known = f"Here were made {_ticked(*own)}." if own else "None was made here."
    return f"No rubric {_ticked(name)} was made in this channel. {known}"


def not_deleted_in_use(name: str) -> str:
    return f"This channel is scored by {_ticked(name)}. Choose another first: `/judge rubric use default`."


def not_understood(reason: str) -> str:
    """What `/judge rubric` can do, for a person who typed something else; `reason` quotes it."""
    return f"{escape(reason)}. This is what I understand:\n{_HELP}"


def no_access_text(refusal: NoAccess) -> str:
    if refusal.reason is NoAccessReason.UNSURE:
        return f"Slack does not let me see who is in this channel (`{refusal.error}`), so I leave its rubrics alone."
    return _NO_ACCESS[refusal.reason]


def _own(saved: SavedRubric, chosen: ChannelJudge, in_use: str) -> str:
    version = saved.rubric.version
    versions = f"{saved.number} versions" if saved.number > 1 else "1 version"
    line = f"• {_marked(saved.name, in_use)}: made here, {versions}, the last on {saved.saved_at:%Y-%m-%d} ({version})"
    if chosen.rubric == saved.name and chosen.version != version:
        line += f"; {chosen.version} is used, and `/judge rubric use {saved.name}` takes the last one"
    return line


def _marked(name: str, in_use: str) -> str:
    return f"*{_ticked(name)} (in use)*" if name == in_use else _ticked(name)


def _listed(models: Sequence[str]) -> str:
    return clip(", ".join(models), _MODELS)


def _ticked(*names: str) -> str:
    return ", ".join(f"`{clip(each, _NAME)}`" for each in names)


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
BAD_NAME = f"Up to {LONGEST_NAME} lower-case letters and digits, with single hyphens between them."
NO_FORMAT = 'The prompt does not say how to answer; ask for a line such as "score: <number>", and for why.'
SHIPPED_NAME = "A rubric that comes with the app has this name; choose another."
TAKEN_NAME = (
    "There is one of this name in this channel; choose another, or close this and type /judge rubric edit {name}"
)
TOO_MANY = (
    f"This channel has {MOST_RUBRICS} rubrics of its own, and can have no more: delete one first "
    "(/judge rubric delete NAME), or change one (/judge rubric edit NAME)."
)
SAVED_MEANWHILE = (
    "Somebody has saved another version since you opened this window. Yours is here alone: save it under another name, "
    "or copy it and type /judge rubric edit {name}"
)
NOT_HERE = "You can no longer change this channel's rubrics: {why}"


def fits(prompt: str) -> bool:
    return all(len(part) <= MAX_INPUT for part in _parted(prompt))


def rubric_modal(state: ModalState, rubric: Rubric) -> dict[str, Any]:
    """The window with a rubric: to change, where `state` names one, and else to begin a new one with."""
    first, rest = _parted(rubric.prompt)
    about = (_CHANGE if state.rubric else _NEW).format(name=rubric.name, channel=state.channel_id)
    blocks = [
        section(f"{about}\n{_HOW}"),
        _input(ids.BLOCK_NAME, "Name", state.rubric or "", LONGEST_NAME, multiline=False),
        _input(ids.BLOCK_PROMPT, "Prompt", first, MAX_INPUT),
        _input(ids.BLOCK_PROMPT_REST, "Prompt, continued if it needs more room", rest, MAX_INPUT) | {"optional": True},
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


def message_modal(text: str) -> dict[str, Any]:
    return {"type": "modal", "title": plain(_TITLE), "close": plain("Close"), "blocks": [section(escape(text))]}


def errors(name: str, prompt: str, *, is_shipped: bool) -> dict[str, str]:
    """What is wrong with a typed rubric, by input; empty where it is one.

    `is_shipped` is whether one that comes with the app has this name.
    """
    found = {}
    if not is_name(name):
        found[ids.BLOCK_NAME] = BAD_NAME
    elif is_shipped:
        found[ids.BLOCK_NAME] = SHIPPED_NAME
    try:
        Rubric(name, prompt)
    except RubricError as exc:
        found[ids.BLOCK_PROMPT] = str(exc).removeprefix(f"rubric {name!r}: ")
    else:
        if "score:" not in prompt.lower():
            found[ids.BLOCK_PROMPT] = NO_FORMAT
    return found


def _parted(prompt: str) -> tuple[str, str]:
    """The prompt in two fields, broken where one line follows another: Slack may drop blanks at a field's edges."""
    text = prompt.strip()
    if len(text) <= MAX_INPUT:
        return text, ""
    ends = (at for at in range(MAX_INPUT, 0, -1) if text[at] == "\n" and "\n" not in (text[at - 1], text[at + 1]))
    at = next(ends, MAX_INPUT + 1)
    return text[:at], text[at + 1 :]


def _input(block_id: str, label: str, initial: str, most: int, *, multiline: bool = True) -> Block:
    element = {"type": "plain_text_input", "action_id": block_id, "multiline": multiline, "max_length": most}
    element |= {"initial_value": initial} if initial else {}
    return {"type": "input", "block_id": block_id, "label": plain(label), "element": element, "optional": False}


BEGUN = (
    "I judge labelled replies of this channel by {judge} first, and tell you how it compares with the judge in use; "
    "until then all stays. There are {n}, and it takes at most some {tokens} tokens, which count in the limits like "
    "replies that you ask for."
)
USED_UP = (
    "{judge} could not be compared with the judge in use: what may be asked for in a day is used up. Ask "
    "for it again later, or use it all the same."
)
CUT = "Some were not asked about: what may be asked for in a day is used up."
NO_LABELS = "There is no labelled reply here, with its texts kept, to compare the two by."
NO_MODEL = "{judge} could not be compared: the model cannot be asked now. All stays as it is; try again later."
GONE = "{judge} could not be compared: it was deleted meanwhile. All stays as it is."
NOT_BOTH_HERE = "{judge} was compared, but we are no longer both in that channel. All stays as it is."
CLOSED = "That change is not open any more: it was decided, or somebody has asked for another since."
IN_USE = "Replies in this channel are scored by {judge}."
ASK = "In the channel, `/judge rubric` says what holds."
LEFT = "All stays as it is."
NOTHING = (
    "Nothing compares {judge} with the judge in use: there is no labelled reply of this channel on the scale of both. "
    "You can use it all the same."
)
UNSCORED = (
    "No labelled reply of this channel got a score by both {judge} and the judge in use ({n} were tried), so nothing "
    "compares the two. Does its prompt ask for a line `score: N`?"
)
SEEN = "People who had seen a score before they gave theirs lean towards it."
