"""Requests to a model that belong to no case, such as those that compare judges or find causes."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from bot.domain.limits import Limits
from bot.store import Store
from judge import Verdict
from judge.evaluation.align import BudgetError

T = TypeVar("T")


async def ask(
    store: Store,
    limits: Limits,
    team_id: str,
    texts: Sequence[str],
    request: Callable[[], Awaitable[T]],
    taken: Callable[[T], int],
) -> T:
    """The answer of a model to a request that counts in the workspace's limits like a case.

    The tokens are estimated from `texts`, which the model reads; `taken` says how many an answer took. Raises
    BudgetError if a limit is used up, and JudgeError if the model fails.
    """
    spending = store.spending
    reserved = await spending.reserve(team_id, limits, limits.expected_tokens(*texts))
    if reserved is None:
        raise BudgetError
    try:
        answer = await request()
    except BaseException:  # also if it is cancelled: otherwise what nobody took would count for a day
        await spending.note(reserved, None)
        raise
    await spending.note(reserved, taken(answer))
    return answer


def tokens_of(verdict: Verdict) -> int:
    return (verdict.input_tokens or 0) + (verdict.output_tokens or 0)
