"""The store: what was asked for, how far each case has come, and what became known of it later."""

from typing import Self

from bot.domain.clock import Clock, utc_now
from bot.store.assignments import Assignments
from bot.store.audit import Audit
from bot.store.channels import Channels
from bot.store.database import Database
from bot.store.digests import Digests, Thumbs
from bot.store.edits import Edits
from bot.store.forgetting import Forgetting
from bot.store.labels import Labels
from bot.store.names import Names
from bot.store.opening import open_engine, require_log
from bot.store.ownership import Processes
from bot.store.rubrics import Rubrics
from bot.store.spending import Spending
from bot.store.steps import CaseSteps
from bot.store.tallies import Tallies
from bot.store.watches import Watches


class Store(CaseSteps):
    """One open database: the steps of a case are its methods, everything else is in its parts."""

    def __init__(
        self, database: Database, store_text: str = "full", clock: Clock = utc_now
    ) -> None:
        super().__init__(database, store_text, clock)
        self.assignments = Assignments(database, keeps_text=store_text == "full")
        self.audit = Audit(database)
        self.channels = Channels(database)
        self.digests = Digests(database)
        self.edits = Edits(database)
        self.forgetting = Forgetting(database)
        self.labels = Labels(database)
        self.names = Names(database)
        self.processes = Processes(database)
        self.rubrics = Rubrics(database)
        self.spending = Spending(database)
        self.tallies = Tallies(database)
        self.thumbs = Thumbs(database)
        self.watches = Watches(database)

    @classmethod
    async def open(cls, database_url: str, store_text: str = "full") -> Self:
        """The store behind a URL, migrated.

        Raises StoreError if it cannot be opened, written or migrated.
        """
        return cls(Database(await open_engine(database_url)), store_text)

    @classmethod
    async def open_existing(cls, database_url: str) -> Self:
        """The store that a bot has created behind a URL, migrated; for commands, which never create
        one.
        """
        await require_log(database_url)
        return await cls.open(database_url)

    async def close(self) -> None:
        await self.database.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
