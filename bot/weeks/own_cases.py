"""What a list says of a person's own cases besides the score: who wrote the reply, and how it begins."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.case import CaseStatus
from bot.slack.authors import Members
from bot.slack.memberships import MembershipError, Memberships
from bot.store.cases import RecentCase

_PATIENCE_S = 1.5


class NoText(StrEnum):
    """Why a list does not say how a reply begins."""

    DELETED = "deleted"
    FORGOTTEN = "forgotten"
    HIDDEN = "hidden"
    NONE = "none"
    NOT_KEPT = "not_kept"
    NOT_READ = "not_read"


@dataclass(frozen=True)
class ListedCase:
    """A case as a list shows it.

    Attributes:
        case: How far it is, and where it stands.
        author: Who wrote the reply, by name; empty where that is not known, or the text was typed.
        text: How the reply begins.
        missing: Why that is not said, and `text` is empty.
    """

    case: RecentCase
    author: str
    text: str = ""
    missing: NoText | None = None


class OwnCases:
    """Adds to people's cases what they may see of the replies.

    Their requester has seen the texts, and still may have left the channel since. So they are shown only where the
    person stands, in direct messages, and where Slack lists the person among the members, asked anew. Any doubt hides
    them.
    """

    def __init__(self, memberships: Memberships, members: Members) -> None:
        self._memberships = memberships
        self._members = members

    async def listed(self, cases: Sequence[RecentCase], user_id: str, here: str = "") -> Sequence[ListedCase]:
        """These cases of a person who looks at them from the channel `here`, if from any."""
        readable, names = await asyncio.gather(self._readable(cases, user_id, here), self._names(cases))
        return [_listed(case, readable, names) for case in cases]

    async def _readable(self, cases: Sequence[RecentCase], user_id: str, here: str) -> Collection[str]:
        channels = {case.channel_id for case in cases if case.beginning and not case.loses_words}
        open_to_them = {each for each in channels if each in {here, ""} or each.startswith("D")}
        if channels == open_to_them:
            return channels
        try:
            return {*open_to_them, *await self._memberships.now(user_id)}
        except MembershipError:
            return open_to_them

    async def _names(self, cases: Sequence[RecentCase]) -> Mapping[str, str]:
        authors = {case.author_id for case in cases if case.author_id}
        found = await self._members.of_all(sorted(authors), _PATIENCE_S)
        # Whom Slack does not know is called by their id, which says nothing to anybody.
        return {each: member.name for each, member in found.items() if member.name != each}


def _listed(case: RecentCase, readable: Collection[str], names: Mapping[str, str]) -> ListedCase:
    missing = _missing(case) or (None if case.channel_id in readable else NoText.HIDDEN)
    author = "" if case.forgotten_at else names.get(case.author_id or "", "")
    return ListedCase(case, author, "" if missing else case.beginning or "", missing)


def _missing(case: RecentCase) -> NoText | None:
    if case.deleted_at:
        return NoText.DELETED
    if case.forgotten_at:
        return NoText.FORGOTTEN
    if case.beginning:
        return None
    if case.response_hash:
        return NoText.NOT_KEPT
    return NoText.NOT_READ if case.status == CaseStatus.RECEIVED else NoText.NONE
