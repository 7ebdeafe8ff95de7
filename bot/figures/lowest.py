"""Low replies in a list: each with the judge's reason, and two buttons that say whether its score
is fair.
"""

from collections.abc import Sequence

from bot.slack import blocks as ui
from bot.slack import ids
from bot.slack.mrkdwn import clip, excerpt
from bot.store.figures import LowCase
from judge.scoring.beside import MET

NOT_BLIND = "*Fair* and *Not fair* are labels given after seeing the score, so not blind."
_WORDS = 120


def low_lines(case: LowCase, who: str, workspace_url: str) -> list[str]:
    """What is known of a low reply: its score as a link, who wrote it, when, and its case, without
    anybody's words.

    The lines after that have the beginnings of its question and of the judge's reason, and the
    rubric's criteria that it does not meet; each is left out if it is not known.
    """
    link = ui.permalink(workspace_url, case.channel_id, case.message_ts, case.thread_ts)
    linked = f"<{link}|Score {case.score} of {case.highest}>"
    gone = "message deleted" if case.deleted_at else ""
    parts = [linked, clip(who), ui.short_date(case.judged_at), f"case {case.id}", gone]
    lines = [" · ".join(part for part in parts if part)]
    if question := excerpt(case.question or "", _WORDS):
        lines.append(f"Question: “{question}”")
    if reason := excerpt(case.reason or "", _WORDS):
        lines.append(f"“{reason}”")
    if missed := [
        clip(name)
        for name, worth in (case.points or {}).items()
        if worth is not None and worth < MET
    ]:
        lines.append(f"Missed: {', '.join(missed)}")
    return lines


def low_blocks(
    lowest: Sequence[LowCase], names: Sequence[str], workspace_url: str
) -> list[ui.Block]:
    """Each reply with its question, the reason, if there is one, the criteria that it does not
    meet, and the buttons.

    `names` are its author's, empty if not shown.

    All words are after the first line of a block of its own, from which `Post.without` can take
    them. The store knows posts that quote a reason, so without a reason there is nothing else.
    """
    blocks = []
    for case, who in zip(lowest, names, strict=True):
        lines = low_lines(case, who, workspace_url)
        words = "\n".join(lines if case.reason else lines[:1])
        blocks += [
            ui.section(words) | {"block_id": f"{ids.BLOCK_WORDS}{case.id}"},
            ui.fairness(case.id),
        ]
    return [*blocks, ui.context(NOT_BLIND)] if blocks else []
