"""How much may be asked for: cases per person and hour, tokens per day, counted in the log."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.domain.refusal import Refusal, RefusalKind
from bot.log.spending import Spending

_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Budget:
    """What people may ask for; None is no limit. Both count back from now, so that no full hour lets a rush through."""

    spending: Spending
    cases_per_user_per_hour: int | None
    tokens_per_day: int | None

    async def refusal(self, team_id: str, user_id: str) -> Refusal | None:
        """Why a person has to wait; None where there is room for another case."""
        now = datetime.now(UTC)
        most = self.cases_per_user_per_hour
        if most is not None and await self.spending.cases(team_id, user_id, now - _HOUR) >= most:
            return Refusal(RefusalKind.TOO_MANY_CASES, most)
        if self.tokens_per_day is not None and await self.spending.tokens(team_id, now - _DAY) >= self.tokens_per_day:
            return Refusal(RefusalKind.NO_TOKENS_LEFT)
        return None
