"""The list of a week's low replies by cause, as a window and as a file."""

from collections.abc import Mapping
from typing import Any

from bot.domain.case import LoggedCase
from bot.features.digest import ids
from bot.features.digest.channel_week import LowReplies, read_low
from bot.figures.lowest import LowList, causes_in_order, folded, ids_of, low_lines
from bot.figures.quality import add_up
from bot.pipeline.row_file import send_rows
from bot.services import Services
from bot.slack import blocks as ui
from bot.slack.invocation import Invocation
from bot.slack.mrkdwn import clip, excerpt
from bot.store.figures import LowCase, Place
from bot.store.visibility import Origin
from judge.evaluation.causes import MOST
from judge.rows.files import encode
from judge.scoring.numbers import number_of

TITLE = "Low replies"
_LOW = "Low is a score in the lowest two fifths of the scale, such as 0 to 2 of 5."
_NOT_SORTED = "not sorted"
_MOST_BLOCKS = 99  # a window has room for 100
# characters
_NAME = 60
_WORDS = 80


async def read_list(services: Services, which: LowList, reader: Invocation) -> LowReplies:
    """The newest low replies of a list, the same ones as one, of channels that its reader and the
    app are in.

    Raises:
        MembershipError: Slack does not say which these are.
    """
    team_id = reader.team_id
    if which.channel_id:
        place = Place(team_id, which.channel_id, which.author_id)
        found = await read_low(services, place, which.span)
    else:
        channels = await _shared(services, reader)
        place = Place(team_id, "", which.author_id, others=channels)
        found = await read_low(services, place, which.span, [Origin.WATCHED])
    replies = folded(found.replies)[:MOST]
    await services.store.assignments.note_told(team_id, ids_of(replies), reader.user_id)
    return LowReplies(replies, found.members)


async def _shared(services: Services, reader: Invocation) -> tuple[str, ...]:
    """The channels that both the reader and the app are in."""
    theirs = await services.memberships.of(reader.user_id)
    ours = await services.memberships.of()
    return tuple(sorted(theirs.keys() & ours.keys()))


def list_window(
    found: LowReplies, which: LowList, url: str, note: str = "", *, sends_files: bool = False
) -> ui.Block:
    """The window with the low replies of a list and the judge's reasons, by cause."""
    blocks = _window_head(found, which, sends_files=sends_files)
    if note:
        blocks.append(ui.context(note))
    causes = causes_in_order(add_up((case.cause, len(case.ids)) for case in found.replies))
    for cause in (*causes, None):
        replies = [case for case in found.replies if case.cause == cause]
        if replies and causes:
            name = clip(cause or _NOT_SORTED, _NAME)
            blocks.append(ui.section(f"*{name}* ({len(ids_of(replies))})"))
        for case in replies:
            blocks += _reply_blocks(case, found.author_of(case), url)
    if len(blocks) > _MOST_BLOCKS:
        blocks = [*blocks[:_MOST_BLOCKS], ui.context("There is no room for the others here.")]
    return ui.page(TITLE, blocks or [ui.section("No low replies.")])


def _window_head(found: LowReplies, which: LowList, *, sends_files: bool) -> list[ui.Block]:
    """What the window lists, and the button for it as a file."""
    if not found.replies:
        return []
    number = number_of(len(ids_of(found.replies)), "low reply", "low replies")
    who = f"*{clip(found.members[which.author_id].name)}*" if which.author_id else "all assistants"
    days = f"{ui.short_date(which.start)} to {ui.short_date(which.end)}"
    blocks = [ui.section(f"{number} of {who}, {days}. {_LOW}")]
    if sends_files and any(case.reason for case in found.replies):
        file = ui.button("Send me this as a file", ids.ACTION_LOW_FILE, which.value)
        blocks.append(ui.actions(file))
    return blocks


def _reply_blocks(case: LowCase, who: str, url: str) -> list[ui.Block]:
    lines = low_lines(case, who, url)
    if words := excerpt(case.response or "", _WORDS):
        lines.append(f"Reply: “{words}”")
    said = ui.section("• " + "\n".join(lines))
    return [said, ui.fairness(case.id, f"score {case.score} of {who}")]


async def send_file(services: Services, person: Invocation, found: LowReplies) -> str:
    """Sends the low replies that have words as rows of JSON to a person; returns what to tell them."""
    cases = services.store.cases
    rows = dict[int, str]()
    for reply in found.replies:
        case = await cases.get(reply.id) if reply.reason else None
        if case:
            whole = await cases.with_turns(case)
            row = _to_row(reply, whole, found.author_of(reply), services.identity.url)
            rows[case.id] = encode(row)
    name = "low-replies.jsonl"
    lines = list(rows.values())
    return await send_rows(services.store, services.client, person, name, TITLE, lines, rows)


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
