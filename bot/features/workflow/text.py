"""What a workflow gets at the end of its step: outputs for the steps that follow, or an error for
people to read.
"""

import re
from collections.abc import Sequence
from typing import Any

from bot.domain.blocker import NO_QUESTION
from bot.domain.case import LoggedCase
from bot.domain.verdict import CaseVerdict
from bot.figures.week import FEWEST, commonest, tally_of
from bot.pipeline.verdict_text import why_unscored
from bot.slack.blocks import address
from bot.store.figures import ScoreCount
from judge.scoring.numbers import number_of

FORGOTTEN = "The case was deleted before the workflow got its score."
OTHER_OUTPUTS = (
    "There is a result, but the installed manifest declares other outputs for this step. "
    "Paste what `judge-bot manifest --with workflow-step` prints."
)
NOT_IN_BOTH = (
    "A workflow can score a message only in a channel that both the person it runs for and I are "
    "in. Type `/invite @Slack Judge` there, or choose a person in that channel."
)
NO_PERSON = (
    "Set *Who asks* to a person of this workspace, such as the person who started the workflow."
)
EITHER_OR = "Give this step either a message, or its link, or a question and a response."
NO_LINK = "This step's link does not lead to a message (More actions (⋮) → Copy link)."
NO_PLACE = "This step's message has no channel or no timestamp. Give its link instead."

# A step that follows may post the outputs, so they must not mention people.
_MENTION = re.compile(r"<(?=[!@#])")


def outputs(
    case: LoggedCase, verdict: CaseVerdict | None, workspace_url: str, *, quotes: bool
) -> dict[str, Any]:
    """The outputs that the manifest declares, without those that have no value.

    If there is no score, the output for it is left out and never 0; `scored` is false, and `reason`
    says why. `quotes` is whether the workflow may get the justification.
    """
    told: dict[str, Any] = {"scored": verdict is not None and verdict.score is not None}
    if verdict is None:
        told["reason"] = NO_QUESTION
    elif verdict.score is None:
        told["reason"] = _text(why_unscored(verdict))
    else:
        told["score"] = verdict.score
        if quotes and verdict.justification and not case.loses_words:
            told["justification"] = _text(verdict.justification)
    if case.reply_ts:
        told["verdict_link"] = address(
            workspace_url, case.channel_id, case.reply_ts, case.thread_ts
        )
    return told


def week_line(rows: Sequence[ScoreCount]) -> str:
    """The digest's line on requests by workflows, by the judge version that scored most; empty
    without scores.
    """
    kind = commonest(rows)
    tally = tally_of(rows, kind)
    if not tally.n:
        return ""
    mean = (
        f": mean {tally.mean:.1f} on a scale from {kind.lowest} to {kind.highest}"
        if tally.n >= FEWEST
        else ""
    )
    return (
        f"{number_of(tally.n, 'reply', 'replies')} requested by workflows, not counted "
        f"elsewhere{mean}."
    )


def _text(words: str) -> str:
    return _MENTION.sub("< ", words)
