"""Requests of watched cases that are sent in a provider's batches, kept until their cases are judged."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, bindparam, delete, exists, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import CaseStatus, LoggedCase
from bot.store.jobs import Job, JobKind, JobQueries, priority
from bot.store.schema import batch_requests, batches, cases
from judge.rows.provider import Sent

EVERY = timedelta(hours=1)
"""How long a request waits for others that are sent in the same batch."""
_MOST = 5_000  # at once, so that they fit into memory; the next minute takes more

RequestId = tuple[int, int]
"""A case id, and the number of the request within the case."""


class Batches(JobQueries):
    async def known(self, case: LoggedCase) -> Sequence[tuple[str, dict[str, Any] | None]]:
        """The requests of a case in order: digest, and HTTP status and body of the answer, or None without one yet."""
        query = select(batch_requests.c.digest, batch_requests.c.response).where(batch_requests.c.case_id == case.id)
        rows = await self._database.all(query.order_by(batch_requests.c.number))
        return [(row.digest, row.response) for row in rows]

    async def ask(self, case: LoggedCase, first: int, missing: Iterable[tuple[str, bytes]], now: datetime) -> None:
        """Queues requests (digest and body) for the next batch, numbered from `first`."""
        common = {"team_id": case.team_id, "case_id": case.id, "created_at": now}
        rows = [
            common | {"number": number, "digest": digest, "body": body.decode()}
            for number, (digest, body) in enumerate(missing, first)
        ]
        if rows:
            await self._database.execute(insert(batch_requests).values(rows))

    async def due(self, team_id: str, now: datetime) -> Sequence[tuple[RequestId, bytes]]:
        """The queued requests with their bodies, once the first of them has waited for `EVERY`."""
        in_line = and_(
            batch_requests.c.team_id == team_id, batch_requests.c.nonce.is_(None), batch_requests.c.response.is_(None)
        )
        first = await self._database.one(select(func.min(batch_requests.c.created_at).label("at")).where(in_line))
        if first is None or first.at is None or first.at > now - EVERY:
            return []
        columns = batch_requests.c.case_id, batch_requests.c.number, batch_requests.c.body
        rows = await self._database.all(select(*columns).where(in_line).order_by(*columns[:2]).limit(_MOST))
        return [((row.case_id, row.number), row.body.encode()) for row in rows]

    async def begin(self, team_id: str, requests: Iterable[RequestId]) -> None:
        """Records a batch of these requests, before any of it is sent."""
        nonce = secrets.token_hex(8)
        is_one = and_(batch_requests.c.case_id == bindparam("of_case"), batch_requests.c.number == bindparam("at"))
        # Another worker may have taken over in the meantime and put them into its own batch.
        put = (
            update(batch_requests)
            .where(is_one, batch_requests.c.nonce.is_(None))
            .values(nonce=nonce, position=bindparam("place"))
        )
        places = [{"of_case": case, "at": number, "place": place} for place, (case, number) in enumerate(requests)]

        async def begin(connection: AsyncConnection) -> None:
            await connection.execute(insert(batches).values(nonce=nonce, team_id=team_id))
            await connection.execute(put, places)

        await self._database.write(begin)

    async def open(self, team_id: str) -> Sequence[Sent]:
        """The batches that have not ended, without those that no case waits for any more."""
        last = func.max(batch_requests.c.position).label("last")
        query = select(batches, last).join(batch_requests, batch_requests.c.nonce == batches.c.nonce)
        rows = await self._database.all(query.where(batches.c.team_id == team_id).group_by(batches.c.nonce))
        return [Sent(row.nonce, row.last + 1, row.file_id or "", row.batch_id or "") for row in rows]

    async def bodies(self, batch: Sent) -> Sequence[tuple[int, bytes]]:
        """The bodies of a batch by position; a case that was forgotten in the meantime leaves a gap."""
        query = select(batch_requests.c.position, batch_requests.c.body).where(batch_requests.c.nonce == batch.nonce)
        rows = await self._database.all(query.order_by(batch_requests.c.position))
        return [(row.position, row.body.encode()) for row in rows]

    async def note(self, batch: Sent, **ids: str) -> bool:
        """Records the provider's ids; False if another worker has already recorded its own."""
        is_new = [batches.c[name].is_(None) for name in ids]
        write = update(batches).where(batches.c.nonce == batch.nonce, *is_new).values(ids)
        return await self._database.execute(write) > 0

    async def end(self, batch: Sent, answers: Mapping[int, dict[str, Any]], now: datetime) -> None:
        """Stores the answers of a batch that has ended, by position, and queues their cases to be settled.

        Requests without an answer wait for the next batch again.
        """
        of_batch = batch_requests.c.nonce == batch.nonce
        keep = update(batch_requests).where(of_batch, batch_requests.c.position == bindparam("place"))
        given = [{"place": place, "answer": response} for place, response in answers.items()]
        answered = select(batch_requests.c.team_id, batch_requests.c.case_id).where(
            of_batch, batch_requests.c.response.is_not(None)
        )

        async def end(connection: AsyncConnection) -> None:
            if given:
                await connection.execute(keep.values(response=bindparam("answer")), given)
            found = await connection.execute(answered.distinct())
            waited = priority(0, len(given))  # people's cases go first
            await self._jobs.put(connection, [Job(JobKind.SETTLE, *row, priority=waited) for row in found])
            await connection.execute(update(batch_requests).where(of_batch).values(nonce=None, created_at=now))
            await connection.execute(delete(batches).where(batches.c.nonce == batch.nonce))

        await self._database.write(end)

    async def trim(self, team_id: str) -> None:
        """Deletes the requests of judged cases, and the batches that are left without requests."""
        is_waiting = exists().where(cases.c.id == batch_requests.c.case_id, cases.c.status == CaseStatus.RECEIVED)
        await self._database.execute(delete(batch_requests).where(batch_requests.c.team_id == team_id, ~is_waiting))
        has_requests = exists().where(batch_requests.c.nonce == batches.c.nonce)
        await self._database.execute(delete(batches).where(batches.c.team_id == team_id, ~has_requests))
