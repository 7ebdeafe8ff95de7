"""What has a standing: the assistants of a workspace that are watched, with the watches of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from bot.domain.standing import Subject, subject_of
from bot.domain.watch import Watch
from bot.features.watch.queries import WatchOrders
from bot.figures.quality import grouped
from bot.services import Services
from bot.slack.members import MembershipError
from bot.store.figures import Place
from bot.store.visibility import Origin
from bot.store.watches import EVERYWHERE

_NO_LIMIT = 10_000

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class WatchedSubject:
    """A subject with its watches, at least one."""

    subject: Subject
    watches: Sequence[Watch]

    @property
    def channel_ids(self) -> Sequence[str]:
        return [watch.channel_id for watch in self.watches]

    @property
    def place(self) -> Place:
        """Where its replies are."""
        team_id, _, author_id = self.subject
        first, *others = sorted(self.channel_ids)
        return Place(team_id, first, author_id, Origin.WATCHED, others=tuple(others))

    @property
    def per_day(self) -> int:
        """How many of its replies may be scored in a day."""
        # Those that follow from an order have one limit together.
        limits = {
            EVERYWHERE if watch.is_derived else watch.channel_id: watch.per_day or _NO_LIMIT
            for watch in self.watches
        }
        return sum(limits.values())


async def subjects_of(services: Services) -> Mapping[Subject, WatchedSubject]:
    orders = WatchOrders(services.store.database)
    watches = await orders.of(services.identity.team_id)
    known = await _with_privacy(services, orders, watches) if watches else ()
    by_subject = grouped((subject_of(watch), watch) for watch in known)
    return {subject: WatchedSubject(subject, its) for subject, its in by_subject.items()}


async def _with_privacy(
    services: Services, orders: WatchOrders, watches: Sequence[Watch]
) -> Sequence[Watch]:
    """The watches, as private as their channels are now, as far as Slack says so."""
    try:
        listed = await services.memberships.of()
    except MembershipError as exc:
        logger.warning("channels_not_listed", reason=str(exc))
        return watches
    now_known = list[Watch]()
    for watch in watches:
        channel = listed.get(watch.channel_id)
        if channel and channel.is_private != watch.is_private:
            watch = replace(watch, is_private=channel.is_private)
            await orders.note_privacy(watch, is_private=channel.is_private)
        now_known.append(watch)
    return now_known
