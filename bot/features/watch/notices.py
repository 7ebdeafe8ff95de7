"""Sends what a watch has to tell to all who hear of it: at once, or once under a name, whatever
process dies.
"""

from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import sqlalchemy as sa
import structlog
from slack_sdk.errors import SlackApiError

from bot.domain.label import EVERYBODY
from bot.domain.standing import Subject
from bot.domain.watch import Watch, is_channel
from bot.features.watch import ids
from bot.services import Services
from bot.slack import client
from bot.slack.invocation import Raw
from bot.slack.members import MembershipError
from bot.slack.messages import find_marked, to_metadata
from bot.slack.messenger import Post
from bot.store.notices import Notices, day_of, key_of, recipient_key
from bot.store.schema import notices as table

_KEPT_OUT = "not_in_channel"  # in place of Slack's error, if a person may not look into the channel
_NOT_SENT = {"ratelimited", "rate_limited"}
_DAY = timedelta(days=1)
LEASE = timedelta(minutes=15)  # longer than the judge is asked again
TRIED_FOR = timedelta(days=2)
"""Whom Slack refuses is tried again for so long."""

Telling = tuple[Post, Sequence[int]]
"""A post, and the cases whose scores it tells."""
Write = Callable[[], Awaitable[Telling | None]]
"""Makes the post as things are right before it is sent; None if it is not to be sent."""

logger = structlog.get_logger(__name__)


class AlertNotices(Notices):
    """What those who hear of a watch were told."""

    async def of_day(self, watch: Watch, day: str) -> set[str]:
        """The names of what was told of a day, or was meant to be."""
        its = sa.select(table.c.name).filter_by(**key_of(watch), day=day)
        return set(await self._database.values(its))

    async def last(self, watch: Watch, kind: str, before: str) -> datetime | None:
        """When an alert of this kind, with which its name begins, was told last on a day `before`
        that.
        """
        its = sa.select(sa.func.max(table.c.posted_at)).filter_by(**key_of(watch))
        at: datetime | None = await self._database.value(
            its.where(table.c.name.startswith(f"{kind} "), table.c.day < before)
        )
        return at

    async def is_settled(self, watch: Watch, name: str, now: datetime) -> bool:
        """Whether all who hear of a watch were told it, or cannot be reached for now."""
        its = sa.select(table.c.recipient).filter_by(**key_of(watch), name=name)
        is_over = sa.or_(table.c.posted_at.is_not(None), table.c.claimed_at > now)
        return set(watch.alerts_to) <= set(await self._database.values(its.where(is_over)))

    async def was_told(self, watch: Watch, name: str, to: str) -> bool:
        its = sa.select(table.c.posted_at).filter_by(**recipient_key(watch, name, to))
        return await self._database.value(its) is not None

    async def put_off(self, watch: Watch, name: str, to: str, until: datetime) -> None:
        its = sa.update(table).filter_by(**recipient_key(watch, name, to))
        await self._database.execute(its.values(claimed_at=until, is_refused=True))


async def send_alert(services: Services, watch: Watch, post: Post) -> Mapping[str, str]:
    """Sends the post to all who hear of a watch; returns Slack's error for each by id, empty for
    whom it reached.
    """
    return {to: (await _send(services, watch, to, (post, ())))[0] for to in watch.alerts_to}


async def tell_once(
    services: Services,
    watch: Watch,
    name: str,
    what: Post | Write,
    day: str = "",
    *,
    may_repeat: bool = False,
) -> None:
    """Sends a post that tells of no case, or what `Write` returns, to each who hears of a watch, at
    most once.

    Without a `day`, it is of the watch's first. If an answer of Slack is lost, the channel is
    searched for the post. A person, whose direct messages the app may not read, is told again only
    if it `may_repeat`. Whom Slack refuses is tried again a day later.
    """
    notices = AlertNotices(services.store.database)
    now = services.clock()
    for to in watch.alerts_to:
        since = await notices.claim(watch, name, to, day or day_of(watch.since), now)
        if since is None:
            continue
        written = None
        if since == now or is_channel(to) or may_repeat:
            written = (what, ()) if isinstance(what, Post) else await what()
        if written:
            sought = since if since < now else None
            error, again_in = await _send(services, watch, to, written, name, sought)
            if error:
                logger.warning("alert_not_sent", channel=watch.channel_id, to=to, error=error)
                if again_in is not None:
                    await notices.put_off(watch, name, to, now + again_in)
                continue
            logger.info("alert_sent", channel=watch.channel_id, to=to, name=name)
        await notices.note_told(watch, name, to, services.clock())


async def do_once(
    services: Services, subject: Subject, name: str, do: Callable[[], Awaitable[None]]
) -> None:
    """Does what one process is to do, unless another one does it or has done it; one that dies
    meanwhile is taken over from after `LEASE`.
    """
    notices = Notices(services.store.database)
    now = services.clock()
    if await notices.claim(subject, name, "", day_of(now), now, LEASE) is None:
        return
    await do()
    await notices.note_told(subject, name, "", services.clock())


def hearers(watches: Iterable[Watch]) -> dict[str, Watch]:
    """Who hears of these watches, and of which first."""
    found = dict[str, Watch]()
    for watch in watches:
        for to in watch.alerts_to:
            found.setdefault(to, watch)
    return found


async def shown_to(services: Services, to: str, channel_ids: Iterable[str]) -> list[str]:
    """Those of the channels whose replies may be shown to a person or in a channel.

    Raises:
        MembershipError: Slack does not say which channels the person is in.
    """
    theirs: Container[str] = {to}
    if not is_channel(to):
        theirs = await services.memberships.of(to)
    return [channel_id for channel_id in channel_ids if channel_id in theirs]


async def tell_each(
    services: Services,
    recipients: Mapping[str, Watch],
    name: str,
    what: Post | Callable[[str], Awaitable[Telling | None]],
) -> Sequence[str]:
    """Tells each recipient the same, or what is written for them, once in all; returns whom it has
    reached.
    """
    notices = AlertNotices(services.store.database)
    reached = list[str]()
    for to, watch in recipients.items():
        alone = replace(watch, alerts_to=(to,))
        post = what if isinstance(what, Post) else partial(what, to)
        await tell_once(services, alone, name, post, day_of(services.clock()))
        if await notices.was_told(watch, name, to):
            reached.append(to)
    return reached


async def _send(
    services: Services,
    watch: Watch,
    to: str,
    telling: Telling,
    name: str = "",
    since: datetime | None = None,
) -> tuple[str, timedelta | None]:
    """Slack's error, which is empty if it went well, and when to try again; None if it may have
    been sent.

    With `since`, the channel gets the post only if it is not there since then; what is there is
    completed.
    """
    mark = to_metadata(
        ids.METADATA_ALERT, {"channel": watch.channel_id, "author": watch.author_id, "name": name}
    )
    try:
        if await _is_kept_out(services, watch, to):
            return _KEPT_OUT, _DAY
        found = await _find(services, to, mark, since) if since and is_channel(to) else None
        reader = EVERYBODY if is_channel(to) else to
        post, told = telling
        await services.post_scores(watch.team_id, to, post, mark, told, reader, found)
    except MembershipError as exc:
        return str(exc), timedelta()
    except client.SLACK_ERRORS as exc:
        return client.slack_word(exc), _again_in(exc)
    return "", None


async def _find(services: Services, channel_id: str, mark: Raw, since: datetime) -> str | None:
    """The ts of the post, if it is there. If the channel cannot be read, an alert that comes twice
    is better than none.
    """
    seeking = find_marked(services.client, channel_id, mark, since.timestamp())
    return await client.unless_refused(seeking)


def _again_in(exc: Exception) -> timedelta | None:
    """When to try again after an error of Slack; None if the post may have been sent."""
    if not isinstance(exc, SlackApiError):
        return None
    if client.is_passing(exc) and client.error_of(exc) not in _NOT_SENT:
        return None
    return timedelta() if client.is_transient(exc) else _DAY


async def _is_kept_out(services: Services, watch: Watch, to: str) -> bool:
    """Whether a person or another channel may not see what is in the watch's channel."""
    if to == watch.channel_id:
        return False
    if is_channel(to):
        return watch.is_private
    # What one public channel keeps from a person, such as a guest, all do.
    channel_id = watch.channels[0] if watch.channels else watch.channel_id
    return await services.memberships.keeps_out(to, channel_id)
