"""The app's installations by OAuth: workspaces and organisations, each with its token, which is
encrypted.

Slack's SDK has stores of its own. They keep tokens readable, write past the database's one writer,
and may accept the same state twice. These have its interfaces.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
import structlog
from slack_bolt.error import BoltError
from slack_sdk.oauth.installation_store import Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.clock import utc_now
from bot.errors import BotError, StoreError
from bot.store.database import (
    Database,
    StoreQueries,
    columns_of,
    in_transaction,
    insert_new,
    upsert,
)
from bot.store.schema import channels, installations, oauth_states, watches
from bot.store.writer import after_commit
from judge.errors import needs_extra

DATA_KEPT = timedelta(days=30)
"""How long a workspace's data is kept after the app was removed from it."""
STATE_LASTS = timedelta(minutes=10)

logger = structlog.get_logger(__name__)


class TokenKeys:
    """Encrypts with the first of the keys, and reads with any."""

    def __init__(self, keys: Sequence[str]) -> None:
        with needs_extra("TOKEN_KEYS", "oauth", "cryptography", error=BotError):
            from cryptography.fernet import Fernet, InvalidToken, MultiFernet
        self.have_old = len(keys) > 1
        self._fernet = MultiFernet(map(Fernet, keys))
        self._unreadable = InvalidToken

    def encrypt(self, text: str) -> str:
        return self._fernet.encrypt(text.encode()).decode()

    def read(self, encrypted: str, lasts: timedelta | None = None) -> str | None:
        """The text; None if no key reads it, or it was encrypted longer ago."""
        try:
            ttl = int(lasts.total_seconds()) if lasts else None
            return self._fernet.decrypt(encrypted, ttl).decode()
        except self._unreadable:
            return None


@dataclass(frozen=True)
class Installed:
    """An installation: `team_id` is a workspace's, or an organisation's; without a token, the app
    was removed.

    Attributes:
        organisation_id: The one that the workspace belongs to, if any.
        installed_by: Who installed the app.
    """

    team_id: str
    name: str
    app_id: str
    token: str | None
    installed_at: datetime
    left_at: datetime | None = None
    organisation_id: str | None = None
    installed_by: str | None = None

    @property
    def is_organisation(self) -> bool:
        return self.team_id.startswith("E")


class Installations(StoreQueries, AsyncInstallationStore):
    """Serves the `allowed` workspaces and organisations alone; commands need neither these nor
    keys.
    """

    def __init__(
        self,
        database: Database,
        keys: TokenKeys | None = None,
        allowed: Collection[str] | None = None,
    ) -> None:
        super().__init__(database)
        self._keys = keys
        self._allowed = allowed

    async def all(self) -> Sequence[Installed]:
        query = sa.select(*columns_of(installations, Installed)).order_by(installations.c.team_id)
        return await self._database.rows(Installed, query)

    async def current(self) -> Mapping[str, Installed]:
        """Those with a token that are served, by the id of their workspace or organisation."""
        return {
            each.team_id: each for each in await self.all() if each.token and self._serves(each)
        }

    def _serves(self, installed: Installed) -> bool:
        ids = {installed.team_id, installed.organisation_id}
        return self._allowed is None or not ids.isdisjoint(self._allowed)

    @in_transaction
    async def end(
        self, connection: AsyncConnection, team_id: str, before: datetime | None = None
    ) -> bool:
        """Deletes the token, and ends watches and digests, if it was installed `before`; False if
        it was not.
        """
        ended = sa.update(installations).filter_by(team_id=team_id)
        ended = ended.where(installations.c.token.is_not(None))
        if before:
            ended = ended.where(installations.c.installed_at < before)
        if not (await connection.execute(ended.values(token=None, left_at=utc_now()))).rowcount:
            return False
        after_commit(connection, self._database.note_deletion)
        await connection.execute(sa.delete(watches).filter_by(team_id=team_id))
        digests = sa.update(channels).filter_by(team_id=team_id, is_digest_on=True)
        await connection.execute(digests.values(is_digest_on=False))
        logger.info("installation_ended", team=team_id, data_kept_days=DATA_KEPT.days)
        return True

    async def left(self) -> Sequence[str]:
        """The workspaces whose data is no longer kept."""
        return [
            each.team_id
            for each in await self.all()
            if each.left_at and each.left_at < utc_now() - DATA_KEPT
        ]

    async def async_save(self, installation: Installation) -> None:
        """Adds an installation, or replaces the one of the same workspace; raises BoltError if it
        is of no use.
        """
        team_id = installation.team_id
        name = installation.team_name
        if installation.is_enterprise_install:
            team_id = installation.enterprise_id
            name = installation.enterprise_name
        if not (self._keys and team_id and installation.bot_token and installation.app_id):
            raise BoltError("Slack's answer names no workspace, app or bot token.")
        new = Installed(
            team_id=team_id,
            name=name or "",
            app_id=installation.app_id,
            token=self._keys.encrypt(installation.bot_token),
            installed_at=utc_now(),
            organisation_id=installation.enterprise_id,
            installed_by=installation.user_id,
        )
        if not self._serves(new):
            logger.warning("not_allowed", team=team_id)
            raise BoltError(
                f"This app is not open to {team_id}, though Slack has added it there. Remove it in "
                f"Slack, or ask who runs it to add {team_id} to WORKSPACES_ALLOWED, and install it "
                "again."
            )
        others = {each.app_id for each in await self.all()} - {installation.app_id}
        if others:
            raise BoltError(
                f"Slack's answer is for the app {installation.app_id}, and {others.pop()} is "
                "installed here."
            )
        await self._database.execute(upsert(self._database, installations, asdict(new)))
        logger.info("installed", team=team_id, is_organisation=new.is_organisation)

    def token_of(self, installed: Installed) -> str | None:
        """The token; None if no key reads it."""
        token = self._keys.read(installed.token or "") if self._keys else None
        if token is None:
            logger.error(
                "token_unreadable",
                team=installed.team_id,
                mend="add to TOKEN_KEYS the key that was in use",
            )
        return token

    async def renew(self) -> None:
        """Encrypts all tokens with the newest key; raises StoreError if the keys read none of them."""
        found = await self.current()
        for each in await self.all():
            if each.token and not self._serves(each):
                mend = (
                    "add it to WORKSPACES_ALLOWED; if its organisation is there, install it again"
                )
                logger.warning("not_allowed", team=each.team_id, mend=mend)
        readable = [each for each in found.values() if self.token_of(each)]
        if found and not readable:
            raise StoreError(
                f"TOKEN_KEYS: these keys read none of the {len(found)} installations; add the key "
                "that was in use (nothing was deleted)"
            )
        if not (self._keys and self._keys.have_old):
            return
        for each in readable:
            renewed = self._keys.encrypt(self.token_of(each) or "")
            its = sa.update(installations).where(installations.c.token == each.token)
            await self._database.execute(its.values(token=renewed))


class OAuthStates(StoreQueries, AsyncOAuthStateStore):
    """The states under which installing began; each is accepted once, for `STATE_LASTS`.

    A state is signed, so that nothing is stored of one until it comes back.
    """

    def __init__(self, database: Database, keys: TokenKeys) -> None:
        super().__init__(database)
        self._keys = keys

    async def async_issue(self, *_: Any, **__: Any) -> str:
        # The padding would be quoted in a cookie.
        return self._keys.encrypt(str(uuid.uuid4())).rstrip("=")

    async def async_consume(self, state: str) -> bool:
        number = self._keys.read(state + "=" * (-len(state) % 4), STATE_LASTS)
        if number is None:
            return False
        now = utc_now()
        used = oauth_states.c
        await self._database.execute(sa.delete(oauth_states).where(used.expires_at < now))
        values = {"state": number, "expires_at": now + STATE_LASTS}
        return bool(await self._database.execute(insert_new(self._database, oauth_states, values)))
