"""What people have chosen for themselves."""

from sqlalchemy import bindparam, select

from bot.domain.case import Visibility
from bot.domain.clock import utc_now
from bot.store.database import Database, upsert
from bot.store.schema import channels, people

# Built once, since they are asked with every request.
_VISIBILITY = select(people.c.visibility).where(
    people.c.team_id == bindparam("of_team"), people.c.user_id == bindparam("of_user")
)
_RUBRIC = select(channels.c.rubric).where(
    channels.c.team_id == bindparam("of_team"), channels.c.channel_id == bindparam("of_channel")
)
_CHOSEN = select(_VISIBILITY.scalar_subquery().label("visibility"), _RUBRIC.scalar_subquery().label("rubric"))


class People:
    """Reads and writes people's choices."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def visibility(self, team_id: str, user_id: str) -> Visibility | None:
        """Who is to see this person's verdicts; None where the workspace's setting decides."""
        row = await self._database.one(_VISIBILITY, {"of_team": team_id, "of_user": user_id})
        return Visibility(row.visibility) if row and row.visibility else None

    async def chosen(self, team_id: str, user_id: str, channel_id: str) -> tuple[Visibility | None, str | None]:
        """The same, and the name of the channel's rubric, in one look: it is asked before anything is judged."""
        of = {"of_team": team_id, "of_user": user_id, "of_channel": channel_id}
        row = await self._database.one(_CHOSEN, of)
        if row is None:
            return None, None
        return Visibility(row.visibility) if row.visibility else None, row.rubric

    async def save_visibility(self, team_id: str, user_id: str, visibility: Visibility | None) -> None:
        """Records who is to see this person's verdicts."""
        values = {"team_id": team_id, "user_id": user_id, "visibility": visibility, "updated_at": utc_now()}
        await self._database.execute(upsert(self._database, people, values))
