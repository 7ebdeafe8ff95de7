"""What people have chosen for themselves."""

from datetime import UTC, datetime

from sqlalchemy import select

from bot.domain.case import Visibility
from bot.log.schema import people
from bot.log.store import Log
from bot.log.upserts import upsert
from bot.log.whole import whole


class People:
    """Reads and writes people's choices."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._engine = log.engine

    @whole
    async def visibility(self, team_id: str, user_id: str) -> Visibility | None:
        """Who is to see this person's verdicts; None where the workspace's setting decides."""
        query = select(people.c.visibility).where(people.c.team_id == team_id, people.c.user_id == user_id)
        async with self._engine.connect() as connection:
            chosen = (await connection.execute(query)).scalar_one_or_none()
        return Visibility(chosen) if chosen else None

    @whole
    async def save_visibility(self, team_id: str, user_id: str, visibility: Visibility | None) -> None:
        """Records who is to see this person's verdicts."""
        values = {"team_id": team_id, "user_id": user_id, "visibility": visibility, "updated_at": datetime.now(UTC)}
        async with self._log.writing() as connection:
            await connection.execute(upsert(connection.dialect.name, people, values))
