"""The modals: one that takes both texts, and one that asks for the question of a case."""

from collections.abc import Sequence
from typing import Any

from bot.domain.case import LoggedCase, Visibility, text_hash
from bot.slack import ids
from bot.slack.modal_state import ModalState
from bot.views.elements import modal, option, plain, quote, run, section

MAX_INPUT = 3000
NO_QUESTION = "I could not find the question that this reply answers."
OUT_OF_SIGHT = (
    "I could not look for the question, because I am not in this channel. Type it here; "
    "or close this window, type `/invite @Slack Judge`, and score the reply again."
)
MAY_NOT_READ = "I may not read messages here, so I do not know the question that this reply answers."
WRONG_QUESTION = "The question that you type here replaces the one that was scored."
NOT_IN_ANY_MORE = (
    "This window belongs to a channel that you are no longer in; type `/judge` where the verdict is to stand."
)
_SAME_QUESTION = "That is the question that was scored. Type the one that this reply answers."
_NOTHING_TYPED = "Please type something here; blanks alone cannot be scored."
_SAME = "This is the question again. What was the answer?"
_ROOM = 2900
_FOR_ONE = "The verdict comes to you alone, in direct messages."


def texts_modal(
    state: ModalState, rubrics: Sequence[str], rubric: str, visibility: Visibility | None
) -> dict[str, Any]:
    """The modal behind `/judge` without text: question, response, rubric, and who sees the verdict.

    Without a `visibility` to begin with it does not ask: the verdict goes to direct messages.
    """
    blocks = [
        _text_input(ids.BLOCK_QUESTION, "Question", "What was asked"),
        _text_input(ids.BLOCK_RESPONSE, "Response", "The answer to score"),
        _select(ids.BLOCK_RUBRIC, "Rubric", rubrics, rubric),
        _visibility_input(visibility) if visibility else section(_FOR_ONE),
    ]
    return modal(ids.VIEW_TEXTS, "Score a response", state, blocks, "Score", "Cancel")


def question_modal(case: LoggedCase, callback_id: str, reason: str, state: ModalState) -> dict[str, Any]:
    """The modal that asks for a case's question; the response is shown, and kept on our side whatever its length."""
    title = "Response to score" if case.response else "The response to score was not kept."
    blocks = [
        section(reason),
        _text_input(ids.BLOCK_QUESTION, "Question", "What was asked", initial=case.question),
        quote(case.response or "", _ROOM, run(title, is_bold=True)),
    ]
    return modal(callback_id, "Which question?", state, blocks, "Score", "Cancel")


def text_errors(question: str, response: str) -> dict[str, str]:
    """What is wrong with the two texts that a person typed, by input; empty where they can be scored."""
    errors = question_errors(question)
    if not response:
        errors[ids.BLOCK_RESPONSE] = _NOTHING_TYPED
    elif question == response:
        errors[ids.BLOCK_RESPONSE] = _SAME
    return errors


def question_errors(question: str, scored: LoggedCase | None = None) -> dict[str, str]:
    """The same for the question alone; with `scored`, where it replaces the question of that case."""
    if not question:
        return {ids.BLOCK_QUESTION: _NOTHING_TYPED}
    is_same = scored is not None and scored.question_hash == text_hash(question)
    return {ids.BLOCK_QUESTION: _SAME_QUESTION} if is_same else {}


def _text_input(block_id: str, label: str, hint: str, initial: str | None = None) -> dict[str, Any]:
    element: dict[str, Any] = {
        "type": "plain_text_input",
        "action_id": block_id,
        "multiline": True,
        "max_length": MAX_INPUT,
        "placeholder": plain(hint),
    }
    if initial:
        element["initial_value"] = initial[:MAX_INPUT]
    return {"type": "input", "block_id": block_id, "label": plain(label), "element": element}


def _select(block_id: str, label: str, values: Sequence[str], chosen: str) -> dict[str, Any]:
    options = [option(value, value) for value in values]
    element = {
        "type": "static_select",
        "action_id": block_id,
        "options": options,
        "initial_option": option(chosen, chosen),
    }
    return {"type": "input", "block_id": block_id, "label": plain(label), "element": element}


def _visibility_input(chosen: Visibility) -> dict[str, Any]:
    labels = {Visibility.THREAD: "Everybody in this channel", Visibility.ME: "Only me"}
    options = {value: option(value.value, label) for value, label in labels.items()}
    element = {
        "type": "radio_buttons",
        "action_id": ids.BLOCK_VISIBILITY,
        "options": list(options.values()),
        "initial_option": options[chosen],
    }
    return {
        "type": "input",
        "block_id": ids.BLOCK_VISIBILITY,
        "label": plain("Who sees the verdict"),
        "element": element,
    }
