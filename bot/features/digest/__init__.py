"""The digest: each channel's week, posted once it is over, and its figures on demand."""

from collections.abc import Sequence
from functools import partial

from slack_bolt.async_app import AsyncApp

from bot.feature import Feature, Services
from bot.features.digest import home
from bot.features.digest.handlers import answer_digest, answer_stats
from bot.features.digest.poster import Poster
from bot.pipeline.engine import Duty
from bot.slack.blocks import Block
from bot.slack.invocation import HomeVisit

_HELP = """\
• `/judge stats` shows this channel's week so far, `/judge stats @name` one assistant's, `#channel` another channel's
• `/judge digest` sums up this channel's weeks: `/judge digest help`"""
_DIRECT_HELP = "• `/judge stats #channel` shows a channel's week so far"


def feature(services: Services) -> Feature:
    """`/judge digest`, `/judge stats`, the posting of digests, and the channels of the Home tab."""
    poster = Poster(services)
    reader = home.ChannelReader(services)

    def register(app: AsyncApp) -> None:
        home.register(app, poster)

    async def show_preview(channel: str) -> None:
        from bot.features.digest.preview import preview  # rich is for the terminal alone

        await preview(poster, channel)

    async def home_section(visit: HomeVisit) -> Sequence[Block]:
        return home.channel_blocks(await reader.read(visit.invocation.team_id, visit.invocation.user_id))

    return Feature(
        register=register,
        words={"digest": partial(answer_digest, poster), "stats": partial(answer_stats, poster)},
        help=_HELP,
        direct_help=_DIRECT_HELP,
        duties=[Duty("post_due_digests", poster.post_due)],
        home_section=home_section,
        preview=show_preview,
    )
