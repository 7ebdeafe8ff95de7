"""What asks people for their label of a verdict, and what confirms it."""

from typing import Any

from bot.domain.case import LoggedCase
from bot.domain.label import Label
from bot.domain.verdict import RecordedVerdict
from bot.slack import ids
from bot.slack.modal_state import ModalState
from bot.views.elements import modal, option, plain, section

LONGEST_REASON = 1000
# Options; a longer scale is typed: https://docs.slack.dev/reference/block-kit/block-elements/select-menu-element
_LONGEST_MENU = 100


def feedback(case: LoggedCase) -> dict[str, Any]:
    """Agree and disagree, in Slack's own form: nobody sees in it what others pressed.

    Source: https://docs.slack.dev/reference/block-kit/blocks/context-actions-block
    """
    buttons = {
        "type": "feedback_buttons",
        "action_id": ids.ACTION_FEEDBACK,
        "positive_button": _choice(":thumbsup: Agree", f"{ids.AGREE}:{case.id}", "Agree: I would give the same score"),
        "negative_button": _choice(
            ":thumbsdown: Disagree", f"{ids.DISAGREE}:{case.id}", "Disagree: I would give another score"
        ),
    }
    return {"type": "context_actions", "block_id": f"{ids.ACTION_FEEDBACK}-{case.id}", "elements": [buttons]}


def plain_feedback(block: dict[str, Any]) -> dict[str, Any]:
    """The same two choices as ordinary buttons."""
    (native,) = block["elements"]
    buttons = [
        {"type": "button", "action_id": action_id, **native[name]}
        for action_id, name in ((ids.ACTION_AGREE, "positive_button"), (ids.ACTION_DISAGREE, "negative_button"))
    ]
    return {"type": "actions", "block_id": f"{block['block_id']}-plain", "elements": buttons}


def label_modal(state: ModalState, verdict: RecordedVerdict, label: Label | None) -> dict[str, Any]:
    """The modal that takes a person's own score, and a reason if they like; their label so far is filled in."""
    judged = "unscored" if verdict.score is None else f"{verdict.score} of {verdict.highest}"
    blocks = [
        section(f"Case {state.case_id}; the judge said: {judged}."),
        _scores(verdict, label),
        reason_input(ids.BLOCK_REASON, label.reason if label else None),
    ]
    return modal(ids.VIEW_LABEL, "Your own score", state, blocks, "Record", "Cancel")


def off_scale(lowest: int, highest: int) -> str:
    """What is wrong with a score that is not on the scale."""
    return f"The scale goes from {lowest} to {highest}."


def confirmation(case: LoggedCase, verdict: RecordedVerdict, label: Label, earlier: Label | None) -> str:
    """What is recorded now, for the person alone."""
    yours = "You agree: your" if label.score == verdict.score else "Your"
    changed = f" (it was {earlier.score})" if earlier and earlier.score != label.score else ""
    recorded = f"{yours} score for case {case.id} is {label.score} of {verdict.highest}{changed}."
    return f"{recorded} Only you see this; press again to change it."


def blind_stands(case: LoggedCase, verdict: RecordedVerdict, label: Label) -> str:
    """For whoever has labelled a case blind, and would now give another score."""
    given = f"{label.score} of {verdict.highest}"
    return f"You scored case {case.id} before you saw this score: {given}. That stands, and I changed nothing."


def score_input(block_id: str, scale: range, earlier: int | None = None) -> dict[str, Any]:
    """The input for a score on this scale."""
    element = _menu(block_id, scale, earlier) if len(scale) <= _LONGEST_MENU else _number(block_id, scale, earlier)
    return {"type": "input", "block_id": block_id, "label": plain("Your score"), "element": element}


def reason_input(block_id: str, reason: str | None = None) -> dict[str, Any]:
    """The input for the reason of a score, which may stay empty."""
    element: dict[str, Any] = {
        "type": "plain_text_input",
        "action_id": block_id,
        "multiline": True,
        "max_length": LONGEST_REASON,
    }
    if reason:
        element["initial_value"] = reason
    return {"type": "input", "block_id": block_id, "label": plain("Why"), "element": element, "optional": True}


def _scores(verdict: RecordedVerdict, label: Label | None) -> dict[str, Any]:
    scale = range(verdict.lowest, verdict.highest + 1)
    # Whoever agreed and now disagrees means another score.
    earlier = label.score if label and label.score in scale and label.score != verdict.score else None
    return score_input(ids.BLOCK_SCORE, scale, earlier)


def _menu(action_id: str, scale: range, earlier: int | None) -> dict[str, Any]:
    element: dict[str, Any] = {
        "type": "static_select",
        "action_id": action_id,
        "options": [option(str(score)) for score in reversed(scale)],
        "placeholder": plain(f"{scale[-1]} is best"),
    }
    return element if earlier is None else element | {"initial_option": option(str(earlier))}


def _number(action_id: str, scale: range, earlier: int | None) -> dict[str, Any]:
    element: dict[str, Any] = {
        "type": "number_input",
        "action_id": action_id,
        "is_decimal_allowed": False,
        "min_value": str(scale[0]),
        "max_value": str(scale[-1]),
        "placeholder": plain(f"{scale[0]} to {scale[-1]}; {scale[-1]} is best"),
    }
    return element if earlier is None else element | {"initial_value": str(earlier)}


def _choice(label: str, value: str, spoken: str) -> dict[str, Any]:
    return {"text": plain(label) | {"emoji": True}, "value": value, "accessibility_label": spoken}
