"""What people and workspaces have used so far, as far as it is limited."""

from datetime import datetime

from sqlalchemy import and_, func, select

from bot.log.database import Database
from bot.log.schema import cases


class Spending:
    """Counts, in the log, what was asked for."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def cases(self, team_id: str, requester_id: str, since: datetime) -> int:
        """How many cases a person has asked for since then."""
        is_theirs = and_(cases.c.team_id == team_id, cases.c.requester_id == requester_id, cases.c.created_at > since)
        ((count,),) = await self._database.all(select(func.count()).where(is_theirs))
        return int(count)

    async def tokens(self, team_id: str, since: datetime) -> int:
        """How many tokens verdicts have taken since then, as far as the models' servers count them."""
        spent = func.coalesce(cases.c.input_tokens, 0) + func.coalesce(cases.c.output_tokens, 0)
        is_ours = and_(cases.c.team_id == team_id, cases.c.judged_at > since)
        ((count,),) = await self._database.all(select(func.coalesce(func.sum(spent), 0)).where(is_ours))
        return int(count)
