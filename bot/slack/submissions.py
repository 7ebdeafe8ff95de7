"""What a window brings back when it is submitted."""

from dataclasses import dataclass
from typing import Any

from bot.domain.case import Visibility
from bot.domain.label import Label
from bot.slack import ids
from bot.slack.blocks import ModalState
from bot.slack.mrkdwn import clean

Raw = dict[str, Any]


@dataclass(frozen=True)
class Submission:
    """A submitted window with texts: its inputs, and what it remembered."""

    view_id: str
    state: ModalState
    question: str
    response: str
    rubric: str | None
    visibility: Visibility | None


@dataclass(frozen=True)
class RubricSubmission:
    """The submitted window for a rubric: what it remembered, the name and the prompt, whose end is one line end."""

    state: ModalState
    name: str
    prompt: str


@dataclass(frozen=True)
class LabelSubmission:
    """The submitted window for one's own score: what it remembered, and the label; None without a score."""

    state: ModalState
    label: Label | None


def to_submission(body: Raw) -> Submission:
    """The inputs as typed, surrounding whitespace dropped."""
    view = body["view"]
    values = view["state"]["values"]
    visibility = _selected(values, ids.BLOCK_VISIBILITY)
    return Submission(
        view_id=view["id"],
        state=_to_state(view),
        question=_typed(values, ids.BLOCK_QUESTION),
        response=_typed(values, ids.BLOCK_RESPONSE),
        rubric=_selected(values, ids.BLOCK_RUBRIC),
        visibility=Visibility(visibility) if visibility else None,
    )


def to_rubric_submission(body: Raw) -> RubricSubmission:
    """The rubric as typed; its two fields are one text, broken at a line end."""
    view = body["view"]
    values = view["state"]["values"]
    fields = (_typed(values, block) for block in (ids.BLOCK_PROMPT, ids.BLOCK_PROMPT_REST))
    prompt = "\n".join(field for field in fields if field)
    return RubricSubmission(_to_state(view), _typed(values, ids.BLOCK_NAME).lower(), f"{prompt}\n")


def to_label_submission(body: Raw) -> LabelSubmission:
    """The score and the reason that a person gave after they had seen the judge's."""
    state, values = _to_state(body["view"]), body["view"]["state"]["values"]
    return LabelSubmission(state, _to_label(values, ids.BLOCK_SCORE, ids.BLOCK_REASON))


def to_blind_submission(body: Raw) -> LabelSubmission:
    """The same of those that they gave before."""
    state, values = _to_state(body["view"]), body["view"]["state"]["values"]
    names = (ids.of_case(block, state.case_id) for block in (ids.BLOCK_SCORE, ids.BLOCK_REASON))
    return LabelSubmission(state, _to_label(values, *names))


def _to_label(values: Raw, score_block: str, reason_block: str) -> Label | None:
    try:
        score = int(_selected(values, score_block) or _typed(values, score_block))
    except ValueError:
        return None
    return Label(score, _typed(values, reason_block) or None)


def _to_state(view: Raw) -> ModalState:
    return ModalState.from_private_metadata(view.get("private_metadata") or "")


def _typed(values: Raw, block_id: str) -> str:
    return clean((values.get(block_id) or {}).get(block_id, {}).get("value") or "").strip()


def _selected(values: Raw, block_id: str) -> str | None:
    option = (values.get(block_id) or {}).get(block_id, {}).get("selected_option")
    return option["value"] if option else None
