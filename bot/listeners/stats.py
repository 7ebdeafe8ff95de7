"""`/judge stats`: the week so far of a channel or of one author in it, to whoever is in that channel."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.digest.poster import Poster
from bot.extract.commands import StatsRequest, parse_stats
from bot.extract.invocation import Invocation
from bot.slack.authors import Member
from bot.slack.memberships import Listed, MembershipError, Memberships
from bot.slack.mrkdwn import clip
from bot.slack.post import Post
from bot.slack.teller import Teller
from bot.store.digests import ChannelSettings
from bot.store.figures import Place, Span
from bot.views import stats as words
from bot.views.messages import sentence
from bot.weeks.figures import TREND_WEEKS
from bot.weeks.week import Week

_ME = "me"
_NAME = 80


class _RefusalError(Exception):
    """Nothing can be shown; the message is what `views` says to that."""


@dataclass(frozen=True)
class _Subject:
    """What the figures are of: a channel, or one author in it; `title` names it where that is not obvious."""

    settings: ChannelSettings
    author_id: str | None = None
    title: str = ""


@dataclass(frozen=True)
class StatsCommand:
    """Shows a week's figures to those who may see them.

    Attributes:
        poster: Computes them.
        memberships: Who is in which channel.
        teller: What answers.
    """

    poster: Poster
    memberships: Memberships
    teller: Teller

    async def answer(self, invocation: Invocation, text: str) -> None:
        """Shows the figures to the person alone, or says why not."""
        await self.teller.tell(invocation.recipient, await self._post(invocation, text))

    async def _post(self, invocation: Invocation, text: str) -> Post:
        try:
            subject = await self._find_subject(invocation, parse_stats(text))
        except ValueError as exc:
            return sentence(words.not_understood(str(exc)))
        except _RefusalError as exc:
            return sentence(str(exc))
        return await self.poster.stats(subject.settings, subject.author_id, subject.title)

    async def _find_subject(self, invocation: Invocation, request: StatsRequest) -> _Subject:
        here = invocation.channel_id
        if here.startswith("D") and request.channel is None:
            raise _RefusalError(words.DIRECT)
        try:
            channels = await self.memberships.of(invocation.user_id)
        except MembershipError as exc:
            raise _RefusalError(words.unsure(str(exc))) from exc
        if request.channel is not None:
            here = _find_channel(request.channel, channels)
        elif here not in channels:
            raise _RefusalError(words.not_yours())
        settings = await self.poster.digests.channel(invocation.team_id, here)
        if request.author is not None:
            return await self._find_author(invocation, settings, request.author)
        return _Subject(settings, title=f"<#{here}>" if here != invocation.channel_id else "")

    async def _find_author(self, invocation: Invocation, settings: ChannelSettings, wanted: str) -> _Subject:
        known = await self._showable_authors(invocation, settings)
        name = invocation.user_id.lower() if wanted.lower() == _ME else wanted.lower()
        found = [author_id for author_id, member in known.items() if name in {author_id.lower(), member.name.lower()}]
        if len(found) > 1:
            raise _RefusalError(words.several_authors(f"@{wanted}", found))
        if not found:
            names = [member.name for author_id, member in known.items() if author_id != invocation.user_id]
            raise _RefusalError(words.no_author(f"@{wanted}", names, settings.ranks_people))
        title = words.OWN_REPLIES if found[0] == invocation.user_id else clip(known[found[0]].name, _NAME)
        return _Subject(settings, found[0], title)

    async def _showable_authors(self, invocation: Invocation, settings: ChannelSettings) -> dict[str, Member]:
        """Bots, and people where the channel lists them; oneself in any case, scored or not."""
        week = Week.of(self.poster.now(), self.poster.schedule(settings).zone)
        span = Span(week.before(TREND_WEEKS - 1).start, week.end)
        places = [Place(settings.team_id, settings.channel_id, is_watched=is_watched) for is_watched in (False, True)]
        rows = [row for place in places for row in await self.poster.tallies.authors(place, span)]
        oneself = {invocation.user_id: Member(invocation.user_name, is_bot=False)}
        return oneself | dict(await self.poster.listed(settings, [row.author_id for row in rows]))


def _find_channel(wanted: str, channels: Mapping[str, Listed]) -> str:
    found = [
        channel_id
        for channel_id, channel in channels.items()
        if wanted.lower() in {channel_id.lower(), channel.name.lower()}
    ]
    if not found:
        raise _RefusalError(words.no_channel(f"#{wanted}"))
    return found[0]
