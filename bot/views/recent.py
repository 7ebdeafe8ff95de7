"""A person's cases as a list: how far each is, where, and when."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from bot.domain.case import CaseStatus, to_case_id
from bot.log.recent import PageEnd, RecentCase
from bot.slack import ids
from bot.slack.post import Post
from bot.views.elements import actions, button, section
from bot.views.links import permalink
from bot.views.unscored import in_short

PAGE = 10
_PER_SECTION = 5  # of at most 3,000 characters
_NONE = "You have not asked for a score yet. On any message: More actions (⋮) → *Score this reply*, or type `/judge`."
_NO_OLDER = "There is nothing older."


def recent_page(found: Sequence[RecentCase], workspace_url: str, before: PageEnd | None = None) -> Post:
    """A page of a person's cases, and buttons to the others; `found` may hold one more than fits."""
    shown = found[:PAGE]
    title = _NO_OLDER if before else _NONE
    if shown:
        title = "*Your older cases*" if before else "*Your cases*, newest first"
    buttons = [button("Newest", ids.ACTION_RECENT_NEWEST)] if before else []
    if len(found) > PAGE:
        buttons.append(button("Older", ids.ACTION_RECENT_OLDER, _from_page_end(shown[-1])))
    row = [actions(*buttons)] if buttons else []
    return Post(title.replace("*", ""), [section(title), *recent_sections(shown, workspace_url), *row])


def recent_sections(found: Sequence[RecentCase], workspace_url: str) -> list[dict[str, Any]]:
    """The list alone, a line for each case."""
    lines = [_line(case, workspace_url) for case in found]
    starts = range(0, len(lines), _PER_SECTION)
    return [section("\n".join(lines[start : start + _PER_SECTION])) for start in starts]


def to_page_end(value: str) -> PageEnd | None:
    """The place in the list that a button remembers; None, for its beginning, where it remembers none."""
    at, _, case_id = value.partition("/")
    try:
        moment, number = datetime.fromisoformat(at), to_case_id(case_id)
    except ValueError:
        return None
    return (moment, number) if moment.tzinfo and number is not None else None


def short_date(moment: datetime) -> str:
    """A moment on the reader's own clock."""
    return f"<!date^{int(moment.timestamp())}^{{date_short_pretty}} at {{time}}|{moment:%Y-%m-%d %H:%M} UTC>"


def _from_page_end(case: RecentCase) -> str:
    return f"{case.created_at.isoformat()}/{case.id}"


def _line(case: RecentCase, workspace_url: str) -> str:
    parts = [_linked(case, workspace_url), _where(case.channel_id), short_date(case.created_at), f"case {case.id}"]
    if case.says_only_you:
        parts.append("only you")
    if case.deleted_at:
        parts.append("message deleted")
    return "• " + " · ".join(parts)


def _linked(case: RecentCase, workspace_url: str) -> str:
    ts = case.reply_ts or case.message_ts or case.thread_ts
    if ts is None:
        return _state(case)
    link = permalink(workspace_url, case.channel_id, ts, case.thread_ts or case.parent_ts)
    return f"<{link}|{_state(case)}>"


def _state(case: RecentCase) -> str:
    if case.score is not None:
        return f"Score {case.score} of {case.highest}"
    if case.unscored_reason is not None:
        return f"Unscored: {in_short(case.unscored_reason)}"
    return "Waiting for your question" if case.status == CaseStatus.ASKED else "Being scored"


def _where(channel_id: str) -> str:
    # Slack names a private channel only to those who are in it.
    return "direct messages" if channel_id.startswith("D") else f"<#{channel_id}>"
