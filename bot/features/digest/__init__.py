"""The digest: each channel's week, posted when it is over, and its figures on demand."""

from functools import partial

from sqlalchemy import select

from bot.feature import Feature
from bot.features.digest import handlers, poster, stats, text
from bot.pipeline.engine import PeriodicJob
from bot.services import Services
from bot.store.schema import channels

_MORE_HELP = """\
• `/judge stats @assistant last week` shows an earlier week of one assistant, `/judge stats #channel` another channel's
• `/judge digest on friday 16:00 Europe/Berlin` sets when the digest comes, `/judge digest off` stops it"""
_HELP = """\
• `/judge stats` shows this channel's week so far, `/judge stats last week` the one before
• `/judge digest on` posts a digest of each week here"""

_WITH_DIGESTS = select(channels.c.team_id).where(channels.c.is_digest_on)


def feature(services: Services) -> Feature:
    return Feature(
        register=partial(handlers.register, services=services),
        words={
            "digest": partial(handlers.answer_digest, services),
            "stats": partial(stats.answer_stats, services),
        },
        meant={"cost": "stats", "low": "stats", "trend": "stats"},
        help=_HELP,
        more_help=_MORE_HELP,
        periodic_jobs=[
            PeriodicJob("post_due_digests", partial(poster.post_due, services), teams=_WITH_DIGESTS)
        ],
        low_button=text.see_button,
        show_low=partial(handlers.show_low, services),
        sort_low=partial(poster.sort_low, services),
        post_weekly=partial(handlers.switch_on, services),
        preview=partial(poster.preview, services),
    )
