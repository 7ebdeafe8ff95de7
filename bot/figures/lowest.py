"""Low replies in a list: each with the judge's reason, and two buttons that say whether its score is fair."""

from collections.abc import Sequence

from bot.slack import blocks as ui
from bot.slack import ids
from bot.slack.mrkdwn import clip, excerpt
from bot.store.figures import LowCase
from judge.scoring.beside import MET

NOT_BLIND = "*Fair* and *Not fair* are labels given after seeing the score, so not blind."
_REASON = 120


def low_line(case: LowCase, who: str, workspace_url: str) -> str:
    """What is known of a low reply without anybody's words: its score as a link, who wrote it, when, and its case."""
    link = ui.permalink(workspace_url, case.channel_id, case.message_ts, case.thread_ts)
    linked = f"<{link}|Score {case.score} of {case.highest}>"
    gone = "message deleted" if case.deleted_at else ""
    parts = [linked, clip(who), ui.short_date(case.judged_at), f"case {case.id}", gone]
    return " · ".join(part for part in parts if part)


def reason_of(case: LowCase) -> str:
    """The beginning of the judge's reason, in quotation marks; empty if there is none to be shown."""
    words = excerpt(case.reason or "", _REASON)
    return f"“{words}”" if words else ""


def missed(case: LowCase) -> str:
    """The rubric's criteria that a reply does not meet; empty if there are none, or nobody has asked for them."""
    names = [clip(name) for name, worth in (case.points or {}).items() if worth is not None and worth < MET]
    return f"Missed: {', '.join(names)}" if names else ""


def low_blocks(lowest: Sequence[LowCase], names: Sequence[str], workspace_url: str) -> list[ui.Block]:
    """Each reply with its question, the reason, if there is one, the criteria that it does not meet, and the buttons.

    `names` are its author's, empty if not shown.

    All words are after the first line of a block of its own, from which `bot/pipeline/quoting.py` can take them. It
    knows of posts that quote a reason, so without a reason there is nothing else.
    """
    blocks = []
    for case, who in zip(lowest, names, strict=True):
        reason, question = reason_of(case), excerpt(case.question or "", _REASON)
        asked = f"Question: “{question}”" if question and reason else ""
        points = missed(case) if reason else ""
        words = "\n".join(filter(None, (low_line(case, who, workspace_url), asked, reason, points)))
        blocks += [ui.section(words) | {"block_id": f"{ids.BLOCK_LOW}{case.id}"}, ui.fairness(case.id)]
    return [*blocks, ui.context(NOT_BLIND)] if blocks else []
