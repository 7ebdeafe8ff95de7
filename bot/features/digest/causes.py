"""The causes of a week's low replies, found by one request to the channel's judge, and the window
that lists them.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import structlog

from bot.domain.case import LoggedCase
from bot.domain.verdict import OFFLINE
from bot.domain.week import Week
from bot.features.digest import ids
from bot.features.digest.channel_week import LowReplies
from bot.features.digest.queries import SortedReply, note_causes, read_causes
from bot.figures.lowest import LowList, causes_in_order, ids_of, low_lines
from bot.figures.quality import add_up, grouped
from bot.pipeline.asking import BudgetError, ask, judge_of, with_more
from bot.pipeline.row_file import send_rows
from bot.services import Services
from bot.slack import blocks as ui
from bot.slack.invocation import Invocation
from bot.slack.messenger import drawn_from
from bot.slack.mrkdwn import clip, excerpt
from bot.store.database import Database
from bot.store.figures import LowCase, Place
from judge import JudgeError
from judge.evaluation.causes import FEWEST, MOST, find_causes
from judge.evaluation.naming import OTHER, words_in
from judge.rows.files import encode
from judge.scoring.judging import Written
from judge.scoring.numbers import number_of

# the claim of a digest holds longer
_PATIENCE_S = 120
_MOST_NAMED = 5
_MOST_CAUSES = 3
# characters
_NAME = 60
_ASSISTANT = 30
_WORDS = 80
_ROOM = 2900
_MOST_BLOCKS = 50  # with buttons; a window has room for 100
NOT_SORTED = "not sorted"
LOW_TITLE = "Low replies"
_LOW = "Low is a score in the lowest two fifths of the scale, such as 0 to 2 of 5."
logger = structlog.get_logger(__name__)


async def look_into(
    services: Services,
    place: Place,
    week: Week,
    replies: Sequence[LowCase],
    *,
    asks_for_points: bool = True,
) -> None:
    """Sorts low replies, the newest first, into causes, and asks for points that they lack; keeps
    both, the causes under a week.

    What fails is left out, as is what takes longer than two minutes.
    """
    until = asyncio.get_running_loop().time() + _PATIENCE_S
    newest = replies[:MOST]
    works = [partial(_find, services, place, week, newest)]
    if asks_for_points:
        works.append(partial(_ask_for_points, services, newest))
    for work in works:
        try:
            async with asyncio.timeout_at(until):
                await work()
        except (BudgetError, JudgeError, TimeoutError) as exc:
            logger.warning(
                "judge_failed", channel=place.channel_id, error=type(exc).__name__, reason=str(exc)
            )


async def _find(services: Services, place: Place, week: Week, replies: Sequence[LowCase]) -> None:
    reasons = {case.id: case.reason for case in replies if case.reason and not case.cause}
    if services.judges is None or len(reasons) < FEWEST:
        return
    judge = await services.judges.of_channel(place.team_id, place.channel_id)
    if judge is None or judge.model == OFFLINE:
        return
    # Before the request, because words may be forgotten during it.
    cases = [case for case in await _read(services, reasons) if case.justification]
    reasons = {case.id: reasons[case.id] for case in cases}
    names = await _known_causes(services.store.database, place, week)

    def within(request: Callable[..., Awaitable[Written]], *its: Any) -> Awaitable[Written]:
        return ask(services.store, services.limits, place.team_id, partial(request, *its))

    decide = partial(within, judge.decide) if judge.decides else None
    # In a thread, because a hundred long replies take more than a second.
    said = await asyncio.to_thread(_said, cases)
    found = await find_causes(partial(within, judge.write), reasons, names, decide, said)
    await note_causes(services.store.database, place, week.label, found.counts)


async def _known_causes(database: Database, place: Place, week: Week) -> list[str]:
    """The names of the causes of a week and of the one before, the most frequent first."""
    replies = [
        *await read_causes(database, place, week.previous()),
        *await read_causes(database, place, week),
    ]
    numbers = Counter[str | None](reply.cause for reply in replies)
    return [name for name in causes_in_order(numbers) if name != OTHER]


async def _read(services: Services, case_ids: Iterable[int]) -> list[LoggedCase]:
    cases = services.store.cases
    found = [await cases.get(case_id) for case_id in case_ids]
    return [await cases.with_turns(case) for case in found if case]


def _said(cases: Iterable[LoggedCase]) -> Mapping[str, Collection[str]]:
    """The words of these cases, by the person who asked."""
    said = defaultdict[str, set[str]](set)
    for case in cases:
        turns = [turn.text for turn in case.conversation]
        texts = "\n".join([case.question or "", case.response or "", *turns])
        said[case.question_author_id or case.requester_id] |= words_in(texts)
    return said


async def _ask_for_points(services: Services, replies: Sequence[LowCase]) -> None:
    cases = services.store.cases
    limits = services.limits.of_automation("Digests")
    for case in [await cases.get(each.id) for each in replies if each.points is None]:
        verdict = case and await cases.verdict(case.id)
        if case and verdict and (judge := await judge_of(services.judges, case, verdict)):
            await with_more(services.store, limits, judge, await cases.with_turns(case), verdict)


def cause_blocks(
    found: Sequence[SortedReply],
    before: Sequence[SortedReply],
    names: Mapping[str, str],
    when: str,
) -> list[ui.Block]:
    """How many low replies of a week have each cause, of each of the assistants with these names,
    and how many had it in the week before; `when` names the week.

    A block of its own each, because the words of a cause go with those of its replies.
    """
    shown = [reply for reply in found if reply.author_id in names]
    numbers_before = Counter((reply.cause, reply.author_id) for reply in before)
    blocks = list[ui.Block]()
    counted = Counter[str | None](reply.cause for reply in shown)
    causes = causes_in_order(counted)
    for cause in causes[:_MOST_CAUSES]:
        replies = [reply for reply in shown if reply.cause == cause]
        numbers = Counter(reply.author_id or "" for reply in replies)
        parts = list[str]()
        for author_id, number in numbers.most_common(_MOST_NAMED):
            part = f"*{clip(names[author_id], _ASSISTANT)}* {number}"
            earlier = numbers_before[cause, author_id]
            if earlier:
                part += f" (was {earlier})"
            elif before and cause != OTHER:
                part += " (new)"
            parts.append(part)
        block = ui.section(f"• {clip(cause, _NAME)}: {', '.join(parts)}")
        if cause != OTHER:
            block = drawn_from([reply.case_id for reply in replies], block)
        blocks.append(block)
    if not blocks:
        return []
    if more := sum(counted[cause] for cause in causes[_MOST_CAUSES:]):
        blocks.append(ui.section(f"• and {more:,} more"))
    replies_words = number_of(len(shown), "reply", "replies")
    return [ui.section(f"*Why replies scored low, {when}* ({replies_words})"), *blocks]


async def send_file(services: Services, person: Invocation, found: LowReplies) -> str:
    """Sends the low replies that have words as rows of JSON to a person; returns what to tell them."""
    cases = services.store.cases
    rows = dict[int, str]()
    for reply in found.replies:
        case = await cases.get(reply.id) if reply.reason else None
        if case:
            author = found.members[reply.author_id or ""].name
            whole = await cases.with_turns(case)
            rows[case.id] = encode(_to_row(reply, whole, author, services.identity.url))
    return await send_rows(
        services.store,
        services.client,
        person,
        "low-replies.jsonl",
        LOW_TITLE,
        list(rows.values()),
        rows,
    )


def _to_row(reply: LowCase, case: LoggedCase, author: str, url: str) -> Mapping[str, Any]:
    """A low reply as a row of the file, with its texts."""
    return {
        "case": case.id,
        "times": len(reply.ids),
        "assistant": author,
        "score": case.score,
        "prompt": case.question,
        "conversation": [{"role": turn.role, "content": turn.text} for turn in case.conversation],
        "completion": case.response,
        "justification": case.justification,
        "points": reply.points,
        "cause": reply.cause,
        "link": ui.address(url, case.channel_id, reply.message_ts, reply.thread_ts),
    }


def _window_head(found: LowReplies, which: LowList, *, sends_files: bool) -> list[ui.Block]:
    """What the window lists, and the button for it as a file."""
    blocks = list[ui.Block]()
    if not found.replies:
        return blocks
    number = number_of(len(ids_of(found.replies)), "low reply", "low replies")
    who = "all assistants"
    if which.author_id:
        who = f"*{clip(found.members[which.author_id].name)}*"
    days = f"{ui.short_date(which.start)} to {ui.short_date(which.end)}"
    blocks.append(ui.section(f"{number} of {who}, {days}. {_LOW}"))
    if sends_files and any(case.reason for case in found.replies):
        file = ui.button("Send me this as a file", ids.ACTION_LOW_FILE, which.value)
        blocks.append(ui.actions(file))
    return blocks


def _window_line(case: LowCase, who: str, url: str) -> str:
    lines = low_lines(case, who, url)
    if words := excerpt(case.response or "", _WORDS):
        lines.append(f"Reply: “{words}”")
    return "• " + "\n".join(lines)


def list_window(
    found: LowReplies, which: LowList, url: str, note: str = "", *, sends_files: bool = False
) -> ui.Block:
    """The window with the low replies of a list and the judge's reasons, by cause, of which the
    first have buttons.
    """
    blocks = _window_head(found, which, sends_files=sends_files)
    if note:
        blocks.append(ui.context(note))
    by_cause = grouped((case.cause or NOT_SORTED, case) for case in found.replies)
    causes = causes_in_order(add_up((case.cause, len(case.ids)) for case in found.replies))
    for name in [*causes, NOT_SORTED]:
        replies = by_cause.get(name)
        if not replies:
            continue
        lines = list[str]()
        if causes:
            lines.append(f"*{clip(name, _NAME)}* ({len(ids_of(replies))})")
        for case in replies:
            who = found.members[case.author_id or ""].name
            line = _window_line(case, who, url)
            if sum(map(len, lines)) + len(line) > _ROOM:
                blocks.append(ui.section("\n".join(lines)))
                lines = []
            lines.append(line)
            if len(blocks) < _MOST_BLOCKS:
                blocks.append(ui.section("\n".join(lines)))
                blocks.append(ui.fairness(case.id, f"score {case.score} of {who}"))
                lines = []
        if lines:
            blocks.append(ui.section("\n".join(lines)))
    return ui.page(LOW_TITLE, blocks or [ui.section("No low replies.")])
