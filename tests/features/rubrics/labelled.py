"""A channel's labelled replies, written into the store at once, as the channel's judge would have
scored them.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import insert

from bot.store import Store
from bot.store.schema import cases, labels
from tests.cases import a_row
from tests.features.rubrics.test_rubrics import place
from tests.stage import Stage

TOKENS = 460
"""What a verdict takes: the model server counts as many for each answer."""


async def labelled(
    stage: Stage,
    count: int,
    score: Callable[[int], int] = lambda _: 4,
    label: Callable[[int], int] = lambda _: 2,
    *,
    reason: str | None = None,
    is_by_another_judge: bool = False,
) -> None:
    """So many replies from number 1 on, in threads of their own, with a score and a label that ben
    has given.
    """
    assert stage.services
    assert stage.services.judges
    judge = await stage.services.judges.by(
        *place(stage), await stage.log.rubrics.chosen(*place(stage))
    )
    assert judge
    version = "another judge" if is_by_another_judge else judge.version
    await put(
        stage.log, *place(stage), stage.ben.id, range(1, count + 1), score, label, version, reason
    )


async def put(
    log: Store,
    team_id: str,
    channel_id: str,
    user_id: str,
    numbers: range,
    score: Callable[[int], int],
    label: Callable[[int], int],
    judge_version: str,
    reason: str | None = None,
) -> None:
    """Writes the cases with these numbers, and a person's label of each."""
    now, where = datetime.now(UTC), {"team_id": team_id, "channel_id": channel_id}
    own = {"requester_id": user_id, "input_tokens": TOKENS, "created_at": now, "judged_at": now}
    rows = [
        a_row(
            **where, **own, key=f"copy {number}", message_ts=f"{number}.0", thread_ts=f"{number}.0"
        )
        | {
            "question": f"Question {number}?",
            "response": f"Answer {number}.",
            "judge_version": judge_version,
        }
        | {"score": score(number), "mean": score(number)}
        for number in numbers
    ]
    given = [
        {
            "team_id": team_id,
            "channel_id": channel_id,
            "case_id": number,
            "user_id": user_id,
            "reason": reason,
        }
        | {"score": label(number), "created_at": now, "updated_at": now}
        for number in numbers
    ]
    async with log.database.engine.begin() as connection:
        await connection.execute(insert(cases), rows)
        await connection.execute(insert(labels), given)
