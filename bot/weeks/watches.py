"""What channels watch, and what has become of the replies of the last seven days."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot.domain.clock import Clock
from bot.domain.watch import Coverage, Watch, together
from bot.slack.authors import Member, Members
from bot.slack.memberships import MembershipError, Memberships
from bot.store import Store
from bot.store.figures import watched

_BEFORE_TODAY = timedelta(days=6)  # with today a week
_PATIENCE_S = 1.5


@dataclass(frozen=True)
class CountedWatch:
    """A watch, the assistant's name, and what has become of its replies."""

    watch: Watch
    name: str
    coverage: Coverage


@dataclass(frozen=True)
class WatchReader:
    """Reads watches for those who may see them: whoever is in a channel, where the app is, too.

    Attributes:
        store: Where they are.
        members: The assistants' names; an id stands for one that Slack does not tell in time.
        memberships: Who is in which channel.
        clock: Says what time it is.
    """

    store: Store
    members: Members
    memberships: Memberships
    clock: Clock

    async def of_channel(self, team_id: str, channel_id: str) -> Sequence[CountedWatch]:
        """What a channel watches."""
        return await self._counted(await self.store.watches.of(team_id, channel_id))

    async def of_person(self, team_id: str, user_id: str, most: int) -> tuple[Sequence[CountedWatch], int]:
        """What the channels watch that a person is in, and how many watches there are besides; none if in doubt."""
        watches = await self.store.watches.of(team_id)
        if not watches:
            return (), 0
        try:
            theirs, ours = await self.memberships.of(user_id), await self.memberships.of()
        except MembershipError:
            return (), 0
        seen = [each for each in watches if each.channel_id in theirs and each.channel_id in ours]
        return await self._counted(seen[:most]), len(seen[most:])

    async def _counted(self, watches: Sequence[Watch]) -> Sequence[CountedWatch]:
        names = await self.members.of_all({watch.author_id for watch in watches}, _PATIENCE_S)
        return [await self._count(watch, names.get(watch.author_id)) for watch in watches]

    async def _count(self, watch: Watch, member: Member | None) -> CountedWatch:
        days = await self.store.replies.coverage(watched(watch), f"{self.clock() - _BEFORE_TODAY:%Y-%m-%d}")
        return CountedWatch(watch, member.name if member else watch.author_id, together(days.values()))
