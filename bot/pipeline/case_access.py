"""Which cases a person may see, when a button or a window leads to one."""

from dataclasses import dataclass

from bot.domain.case import LoggedCase
from bot.slack.invocation import Invocation
from bot.slack.members import Memberships
from bot.store.cases import Cases


class NoCaseError(LookupError):
    """A button or window names a case that is not in the store (any more), or that this person may not see."""


@dataclass(frozen=True)
class CaseAccess:
    """Gives people the cases that they may see; raises `NoCaseError`, or `MembershipError` if Slack does not say."""

    cases: Cases
    memberships: Memberships

    async def known(self, invocation: Invocation, case_id: int | None) -> LoggedCase:
        """The case of a button or window: the person's own, or one that they can see in a channel's thread."""
        case = await self.cases.find(invocation.team_id, case_id) if case_id is not None else None
        if case and case.requester_id == invocation.user_id:
            return case
        if case and not case.is_for_one and await self._sees(invocation, case.channel_id):
            return case
        raise NoCaseError(f"no case {case_id!r} for {invocation.user_id!r} in team {invocation.team_id!r}")

    async def readable(self, invocation: Invocation, case_id: int | None) -> LoggedCase:
        """The case of a button or window that leads to its texts, or to its message as it is now.

        A requester who has left the channel of the case may not read these any more.
        """
        case = await self.known(invocation, case_id)
        user_id = invocation.user_id
        is_own_elsewhere = case.requester_id == user_id and case.channel_id != invocation.channel_id
        if is_own_elsewhere and await self.memberships.keeps_out(user_id, case.channel_id):
            raise NoCaseError(f"case {case_id!r} is in a channel that {user_id!r} has left")
        return case

    async def has_left_window(self, invocation: Invocation) -> bool:
        """Whether the person may no longer see the channel in which they opened a window."""
        channel_id = invocation.window_channel_id
        return channel_id is None or await self.memberships.keeps_out(invocation.user_id, channel_id)

    async def _sees(self, invocation: Invocation, channel_id: str) -> bool:
        """Whether the person can see the channel; asks Slack, unless this click came from that channel."""
        if channel_id == invocation.channel_id:
            return True
        if channel_id == invocation.window_channel_id:
            return not await self.has_left_window(invocation)
        return await self.memberships.includes(invocation.user_id, channel_id)
