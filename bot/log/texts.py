"""Dropping texts: what people and bots said, and what a model wrote about it, because that quotes them."""

from sqlalchemy import ColumnElement, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.log.schema import cases, ratings

_NO_TEXTS = {"question": None, "response": None, "justification": ""}
_NO_WORDS = {"justification": "", "raw": ""}


async def drop_texts(connection: AsyncConnection, which: ColumnElement[bool]) -> None:
    """Takes the texts out of these cases and their ratings; hashes, scores, and where the messages stand, are left."""
    theirs = tuple_(ratings.c.team_id, ratings.c.case_id).in_(select(cases.c.team_id, cases.c.id).where(which))
    await connection.execute(update(ratings).where(theirs).values(_NO_WORDS))
    await connection.execute(update(cases).where(which).values(_NO_TEXTS))
