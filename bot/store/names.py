"""The names of channels and assistants, as Slack gave them last, for those who read the store without
Slack.
"""

from collections.abc import Mapping, Sequence

from sqlalchemy import select

from bot.store.database import StoreQueries, upsert
from bot.store.schema import names


class Names(StoreQueries):
    async def note(self, team_id: str, id_: str, name: str) -> None:
        """Notes the name of a channel or an assistant; its last one is replaced."""
        row = {"team_id": team_id, "id": id_, "name": name}
        await self._database.execute(upsert(self._database, names, row))

    async def all(self) -> Mapping[tuple[str, str], str]:
        """The names by team and id."""
        rows = await self._database.all(select(names))
        return {(row.team_id, row.id): row.name for row in rows}

    async def ids(self, name: str, team_id: str = "") -> Sequence[str]:
        """The ids that have this name, in a team or in all."""
        query = select(names.c.id).where(names.c.name == name)
        if team_id:
            query = query.where(names.c.team_id == team_id)
        return await self._database.values(query.distinct().order_by(names.c.id))
