"""Which assistants a channel has, and how much they write."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from bot.services import Services
from bot.slack.invocation import Raw
from bot.slack.members import called


async def assistants(
    services: Services, channel_id: str, name: str = ""
) -> tuple[Mapping[str, str], Mapping[str, float]]:
    """The names, by id, of the bots that wrote in a channel lately, most replies first, and how
    many a day by whom.

    If there are none, or none of them has this `name` or id, the bots among the channel's members
    are added.

    Raises:
        SlackApiError, ClientError, TimeoutError: Slack does not let us read the channel, or is not
        available.
    """
    answer = await services.client.conversations_history(channel=channel_id, limit=200)
    latest: Sequence[Raw] = answer.get("messages") or []
    a_day = replies_a_day(latest, services.clock())
    wrote = dict.fromkeys(author_id for raw in latest for author_id in _authors(raw))
    found = await _bots(services, sorted(wrote, key=lambda each: -a_day.get(each, 0)))
    if called(name, found) if name else found:
        return found, a_day
    there = await services.client.conversations_members(channel=channel_id, limit=100)
    return found | await _bots(services, there.get("members") or []), a_day


def _authors(raw: Raw) -> Sequence[str]:
    """Those who wrote a message or in its thread, without a person who wrote the message itself."""
    return [
        *([raw.get("user") or raw["bot_id"]] if raw.get("bot_id") else []),
        *(raw.get("reply_users") or []),
    ]


def replies_a_day(latest: Sequence[Raw], now: datetime) -> Mapping[str, float]:
    """About how many replies each author wrote a day, in the last week or since the oldest of these
    messages.

    Of a thread Slack says how many messages it has and who wrote some, who are taken to alternate.
    """
    since = (now - timedelta(days=7)).timestamp()
    number = Counter[str]()
    for raw in latest:
        if float(raw.get("latest_reply") or raw["ts"]) < since:
            continue
        of_each = raw.get("reply_count", 1) // (raw.get("reply_users_count") or 1)
        number.update(dict.fromkeys(_authors(raw), max(of_each, 1)))
    oldest = min((float(raw["ts"]) for raw in latest), default=since)
    days = min(max((now.timestamp() - oldest) / 86_400, 1), 7)
    return {author_id: found / days for author_id, found in number.items()}


async def _bots(services: Services, ids: Iterable[str]) -> dict[str, str]:
    members = services.members
    others = [author_id for author_id in ids if author_id not in services.identity.own_ids]
    # Of up to 100; the command has already been acknowledged.
    found = await members.of_all(others, at_least_s=3)
    return {
        author_id: member.name
        for author_id, member in found.items()
        if member.is_bot and not await members.is_known_foreign(author_id)
    }


async def watched_names(services: Services, team_id: str, channel_id: str) -> Mapping[str, str]:
    watches = await services.store.watches.of(team_id, channel_id)
    return {watch.author_id: await services.members.name_of(watch.author_id) for watch in watches}
