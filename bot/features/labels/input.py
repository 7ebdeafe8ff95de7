"""Reads what the person gave: by a button under a verdict, and in a window for their own score."""

from typing import Any

from bot.domain.case import to_case_id
from bot.domain.label import Label
from bot.features.labels import ids
from bot.slack import ids as slack_ids
from bot.slack.blocks import ModalState
from bot.slack.invocation import clicked_value, selected, to_state, typed


def clicked_feedback(body: dict[str, Any]) -> tuple[int | None, bool]:
    """The case whose feedback button was clicked, or the button for one's own score, and whether it was "agree"."""
    choice, _, case_id = clicked_value(body).rpartition(":")
    return to_case_id(case_id), choice == slack_ids.AGREE


def to_label(body: dict[str, Any], *, is_blind: bool) -> tuple[ModalState, Label | None]:
    """The state of a submitted window for a person's own score, and the label, or None without a valid score."""
    state, values = to_state(body["view"]), body["view"]["state"]["values"]
    score_block, reason_block = (
        slack_ids.of(block, state.case_id) if is_blind else block for block in (ids.BLOCK_SCORE, ids.BLOCK_REASON)
    )
    try:
        score = int(selected(values, score_block) or typed(values, score_block))
    except ValueError:
        return state, None
    return state, Label(score, typed(values, reason_block) or None)
