"""Low replies in a list: each with the judge's reason, and two buttons that say whether its score
is fair.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Self

from bot.slack import blocks as ui
from bot.slack import ids
from bot.slack.mrkdwn import clip, excerpt
from bot.store.figures import LowCase, Span
from judge.evaluation.naming import OTHER
from judge.scoring.beside import MET

_WORDS = 100


@dataclass(frozen=True)
class LowList:
    """Which low replies a button lists: those of a span in a channel, by one author or all.

    Without a channel, it lists those of the author that watches drew in the channels of whoever
    presses it.
    """

    channel_id: str
    start: datetime
    end: datetime
    author_id: str | None = None

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    @property
    def value(self) -> str:
        """The list as the value of a button."""
        return json.dumps(asdict(self), default=datetime.isoformat)

    @classmethod
    def of(cls, value: str) -> Self:
        """The list that a button's value names.

        Raises:
            ValueError: It names none.
        """
        try:
            fields = json.loads(value)
            start = datetime.fromisoformat(fields["start"])
            end = datetime.fromisoformat(fields["end"])
            return cls(str(fields["channel_id"]), start, end, fields["author_id"])
        except (KeyError, TypeError) as exc:
            raise ValueError(f"{value!r} is no list of low replies") from exc


def folded(replies: Iterable[LowCase]) -> list[LowCase]:
    """Low replies in their order, those of one assistant with the same answer, or to the same
    question, as one: the lowest stands for them, of several the first.

    Words are the same whatever their case and the blanks between them, as far as they are read.
    """
    groups = dict[int, list[LowCase]]()
    group_of = dict[tuple[str | None, str, str], int]()
    for reply in replies:
        keys = [
            (reply.author_id, kind, " ".join(words.casefold().split()))
            for kind, words in (("answer", reply.response), ("question", reply.question))
            if words and words.strip()
        ]
        group_id = next((group_of[key] for key in keys if key in group_of), reply.id)
        for key in keys:
            group_of.setdefault(key, group_id)
        groups.setdefault(group_id, []).append(reply)
    return [_as_one(group) for group in groups.values()]


def _as_one(group: Sequence[LowCase]) -> LowCase:
    lowest = min(group, key=lambda reply: reply.score)
    others = [reply.id for reply in group if reply is not lowest]
    return replace(lowest, same=tuple(others))


def causes_in_order(numbers: Mapping[str | None, int]) -> list[str]:
    """The causes of so many replies each: the most frequent first, by name if they are as
    frequent, and "other" last.
    """
    known = {cause: number for cause, number in numbers.items() if cause}
    return sorted(known, key=lambda cause: (cause == OTHER, -known[cause], cause))


def ids_of(replies: Iterable[LowCase]) -> list[int]:
    """All cases whose scores are told with these replies."""
    return [case_id for reply in replies for case_id in reply.ids]


def low_lines(case: LowCase, who: str, workspace_url: str, *, is_short: bool = False) -> list[str]:
    """What is known of a low reply: its score as a link, who wrote it, and when, without anybody's
    words; in short without the scale and the day.

    The lines after that have the beginnings of its question and of the judge's reason, and the
    rubric's criteria that it does not meet; each is left out if it is not known.
    """
    lines = [_first_line(case, who, workspace_url, is_short=is_short)]
    if question := excerpt(case.question or "", _WORDS):
        # Those with the same answer may have other questions.
        label = f"{len(case.ids)} replies alike, such as to" if case.same else "Question:"
        lines.append(f"{label} “{question}”")
    if reason := excerpt(case.reason or "", _WORDS):
        lines.append(f"“{reason}”")
    points = (case.points or {}).items()
    if missed := [clip(name) for name, worth in points if worth is not None and worth < MET]:
        lines.append(f"Missed: {', '.join(missed)}")
    return lines


def _first_line(case: LowCase, who: str, workspace_url: str, *, is_short: bool) -> str:
    link = ui.permalink(workspace_url, case.channel_id, case.message_ts, case.thread_ts)
    score = f"Score {case.score}" if is_short else f"Score {case.score} of {case.highest}"
    when = "" if is_short else ui.short_date(case.judged_at)
    gone = "message deleted" if case.deleted_at else ""
    return " · ".join(part for part in (f"<{link}|{score}>", clip(who), when, gone) if part)


def low_blocks(
    lowest: Sequence[LowCase], names: Sequence[str], workspace_url: str, *, is_short: bool = False
) -> list[ui.Block]:
    """Each reply with its question, the reason, if there is one, the criteria that it does not
    meet, and the buttons.

    `names` are its author's, empty if not shown.

    All words are after the first line of a block of its own, from which `Post.without` can take
    them; the buttons go with them. The store knows posts that quote a reason, so without a reason
    there is nothing else.
    """
    blocks = list[ui.Block]()
    for case, who in zip(lowest, names, strict=True):
        lines = low_lines(case, who, workspace_url, is_short=is_short)
        words = "\n".join(lines if case.reason else lines[:1])
        blocks.append(ui.section(words) | {"block_id": f"{ids.BLOCK_WORDS}{case.id}"})
        buttons = ui.fairness(case.id, f"score {case.score} of {who}")
        if case.reason:
            buttons["block_id"] = f"{ids.BLOCK_WORDS}{case.id}-buttons"
        blocks.append(buttons)
    return blocks
