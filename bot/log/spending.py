"""What people and workspaces have used so far, as far as it is limited."""

from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, func, select

from bot.log.schema import cases
from bot.log.store import Log
from bot.log.whole import whole


class Spending:
    """Counts, in the log, what was asked for."""

    def __init__(self, log: Log) -> None:
        self._engine = log.engine

    async def cases(self, team_id: str, requester_id: str, since: datetime) -> int:
        """How many cases a person has asked for since then."""
        is_theirs = and_(cases.c.team_id == team_id, cases.c.requester_id == requester_id, cases.c.created_at > since)
        return await self._number(select(func.count()).where(is_theirs))

    async def tokens(self, team_id: str, since: datetime) -> int:
        """How many tokens verdicts have taken since then, as far as the models' servers count them."""
        spent = func.coalesce(cases.c.input_tokens, 0) + func.coalesce(cases.c.output_tokens, 0)
        is_ours = and_(cases.c.team_id == team_id, cases.c.judged_at > since)
        return await self._number(select(func.coalesce(func.sum(spent), 0)).where(is_ours))

    @whole
    async def _number(self, query: Select[Any]) -> int:
        async with self._engine.connect() as connection:
            return int((await connection.execute(query)).scalar_one())
