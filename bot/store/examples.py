"""Examples in saved rubrics: they contain the texts of cases, and are forgotten with them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.database import Database, after_commit
from bot.store.schema import align_records, channels, judge_requests, rubrics
from judge import DEFAULT_RUBRIC, Rubric, RubricError, load_rubric


class Aim(StrEnum):
    """What a person wants of a channel's judge: to compare another one with it, or to improve it."""

    COMPARE = "compare"
    IMPROVE = "improve"


class Progress(StrEnum):
    """How far a comparison or an improvement is.

    `RUNNING`: it is at work. `STOPPED`: it was told to stop. `FORGOTTEN`: words that it has read
    were deleted, so it stops. `OFFERED`: it waits for a person's decision. `USED`: the rubric that
    it found was used.
    """

    RUNNING = "running"
    STOPPED = "stopped"
    FORGOTTEN = "forgotten"
    OFFERED = "offered"
    USED = "used"


PROPOSALS = delete(align_records).where(align_records.c.key.startswith("proposal/"))
"""Deletes what models have proposed to improvements."""


async def drop_examples(
    database: Database, connection: AsyncConnection, gone: Iterable[tuple[str, int]]
) -> None:
    """Removes the examples made from these cases (team and number) from all versions of the teams'
    rubrics.

    A channel goes on with the text that is left as another version, so that its scores are not
    compared with earlier ones. An improvement that has learnt from one of the cases ends, and its
    proposal is deleted. The transaction must hold `lock_learning`.
    """
    numbers: defaultdict[str, set[str]] = defaultdict(set)
    for team_id, number in gone:
        numbers[team_id].add(str(number))
    if not numbers:
        return
    after_commit(connection, database.note_deletion)
    await _end_learning(connection, numbers)
    has_examples = rubrics.c.team_id.in_(numbers), rubrics.c.prompt.contains("<example case=")
    # Locked in one order, so that two processes that forget never wait for each other.
    query = select(rubrics).where(*has_examples).order_by(*rubrics.primary_key).with_for_update()
    for row in (await connection.execute(query)).all():
        if left := _without(Rubric(row.name, row.prompt), frozenset(numbers[row.team_id])):
            await _replace(connection, row, left)
            after_commit(connection, database.forget_choices)


async def _end_learning(connection: AsyncConnection, gone: Mapping[str, Set[str]]) -> None:
    """Ends the improvements that have read any of these cases (numbers by team), and deletes what
    came of them.
    """
    read = select(judge_requests).where(
        judge_requests.c.team_id.in_(gone), judge_requests.c.learnt.is_not(None)
    )
    for row in (await connection.execute(read)).all():
        if gone[row.team_id].isdisjoint(row.learnt):
            continue
        ended = update(judge_requests).filter_by(id=row.id, status=Progress.RUNNING)
        await connection.execute(ended.values(status=Progress.FORGOTTEN, prompt=None))
        await connection.execute(
            delete(judge_requests).filter_by(id=row.id, status=Progress.OFFERED)
        )
        await connection.execute(
            PROPOSALS.filter_by(team_id=row.team_id, channel_id=row.channel_id)
        )


def _without(rubric: Rubric, gone: frozenset[str]) -> Rubric | None:
    """What is left of a rubric without these examples; None if it has none of them."""
    from judge.evaluation.align.examples import (
        examples_of,
        without_examples,
    )  # rarely needed, and slow to import

    if gone.isdisjoint(examples_of(rubric)):
        return None
    try:
        return without_examples(rubric, gone)
    except (
        RubricError
    ):  # an example contains a part that every rubric must have; the texts are removed all the same
        return Rubric(rubric.name, load_rubric(DEFAULT_RUBRIC).prompt)


async def _replace(connection: AsyncConnection, row: Row[Any], left: Rubric) -> None:
    of_rubric = {"team_id": row.team_id, "channel_id": row.channel_id}
    text = {"version": left.version, "prompt": left.prompt}
    await connection.execute(
        update(rubrics).filter_by(**of_rubric, name=row.name, number=row.number).values(text)
    )
    for table in (channels, judge_requests):
        named = update(table).filter_by(**of_rubric, rubric=row.name, rubric_version=row.version)
        await connection.execute(named.values(rubric_version=left.version))
