"""The app's installations by OAuth: workspaces and organisations, each with its token, which is
encrypted.

Slack's SDK has stores of its own. They keep tokens readable, write past the database's one writer,
and may accept the same state twice. These have its interfaces.
"""

import uuid
from collections.abc import Mapping, Sequence
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
from bot.store.database import Database, StoreQueries, columns_of, in_transaction, upsert
from bot.store.schema import channels, installations, oauth_states, watches
from bot.store.writer import after_commit
from judge.errors import needs_extra

DATA_KEPT = timedelta(days=30)
"""How long a workspace's data is kept after the app was removed from it."""
STATE_LASTS = timedelta(minutes=10)

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Installed:
    """An installation: `team_id` is a workspace's, or an organisation's; without a token, the app
    was removed.
    """

    team_id: str
    name: str
    app_id: str
    token: str | None
    installed_at: datetime
    left_at: datetime | None

    @property
    def is_organisation(self) -> bool:
        return self.team_id.startswith("E")


class Installations(StoreQueries, AsyncInstallationStore):
    """New tokens are encrypted with the first key, and read with any; commands need no keys."""

    def __init__(self, database: Database, keys: Sequence[str] = ()) -> None:
        super().__init__(database)
        self._has_old_keys = len(keys) > 1
        if not keys:
            return
        with needs_extra("TOKEN_KEYS", "oauth", "cryptography", error=BotError):
            from cryptography.fernet import Fernet, InvalidToken, MultiFernet
        self._keys = MultiFernet(map(Fernet, keys))
        self._unreadable = InvalidToken

    async def all(self) -> Sequence[Installed]:
        query = sa.select(*columns_of(installations, Installed)).order_by(installations.c.team_id)
        return await self._database.rows(Installed, query)

    async def current(self) -> Mapping[str, Installed]:
        """Those with a token, by the id of their workspace or organisation."""
        return {each.team_id: each for each in await self.all() if each.token}

    async def end(self, team_id: str, before: datetime | None = None) -> bool:
        """Deletes the token, and ends watches and digests, if it was installed `before`; False if
        it was not.
        """
        if is_ended := await self._end(team_id, before):
            logger.info("installation_ended", team=team_id, data_kept_days=DATA_KEPT.days)
        return is_ended

    @in_transaction
    async def _end(
        self, connection: AsyncConnection, team_id: str, before: datetime | None
    ) -> bool:
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
        team_id = (
            installation.enterprise_id
            if installation.is_enterprise_install
            else installation.team_id
        )
        name = (
            installation.enterprise_name
            if installation.is_enterprise_install
            else installation.team_name
        )
        if not (team_id and installation.bot_token and installation.app_id):
            raise BoltError("the answer names no workspace, app or bot token")
        others = {each.app_id for each in await self.all()} - {installation.app_id}
        if others:
            raise BoltError(
                f"the answer is for the app {installation.app_id}, and {others.pop()} is "
                "installed here"
            )
        token = self._keys.encrypt(installation.bot_token.encode()).decode()
        new = Installed(team_id, name or "", installation.app_id, token, utc_now(), None)
        await self._database.execute(upsert(self._database, installations, asdict(new)))
        logger.info(
            "installed", team=team_id, is_organisation=bool(installation.is_enterprise_install)
        )

    def token_of(self, installed: Installed) -> str | None:
        """The token; None if no key reads it."""
        try:
            return self._keys.decrypt(installed.token or "").decode()
        except self._unreadable:
            logger.error(
                "token_unreadable",
                team=installed.team_id,
                mend="add to TOKEN_KEYS the key that was in use",
            )
            return None

    async def renew(self) -> None:
        """Encrypts all tokens with the newest key; raises StoreError if the keys read none of them."""
        found = await self.current()
        readable = [each for each in found.values() if self.token_of(each)]
        if found and not readable:
            raise StoreError(
                f"TOKEN_KEYS: these keys read none of the {len(found)} installations; add the key "
                "that was in use (nothing was deleted)"
            )
        for each in readable if self._has_old_keys else ():
            token = self._keys.rotate(each.token or "").decode()
            its = sa.update(installations).filter_by(token=each.token)
            await self._database.execute(its.values(token=token))


class OAuthStates(StoreQueries, AsyncOAuthStateStore):
    """The states under which installing began; each is accepted once."""

    async def async_issue(self, *_: Any, **__: Any) -> str:
        state = str(uuid.uuid4())
        now = utc_now()
        await self._database.execute(sa.delete(oauth_states).where(oauth_states.c.expires_at < now))
        await self._database.execute(
            sa.insert(oauth_states).values(state=state, expires_at=now + STATE_LASTS)
        )
        return state

    async def async_consume(self, state: str) -> bool:
        is_good = oauth_states.c.state == state, oauth_states.c.expires_at > utc_now()
        return bool(await self._database.execute(sa.delete(oauth_states).where(*is_good)))
