"""Whether this machine's clock is the database's: processes that share a log have to agree on the time."""

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.domain.clock import Clock, utc_now

_TOLERATED_S = 5.0

logger = structlog.get_logger(__name__)


async def note_clock(engine: AsyncEngine, clock: Clock = utc_now) -> None:
    """Says in the app's log how far this machine's clock is ahead, and what to do, where it is off by over 5 s."""
    async with engine.connect() as connection:
        before = clock()
        theirs = (await connection.execute(text("SELECT clock_timestamp()"))).scalar_one()
        ahead_s = (before + (clock() - before) / 2 - theirs).total_seconds()
    if abs(ahead_s) > _TOLERATED_S:
        logger.warning(
            "clock_is_off",
            ahead_s=round(ahead_s, 1),
            of="the database's clock",
            do="have NTP set the clocks of this machine and of the database; until then cases may be judged twice",
        )
