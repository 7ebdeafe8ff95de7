"""What a person's cases are judged by, and who sees them."""

from dataclasses import dataclass

from bot.domain.case import LoggedCase, Visibility
from bot.extract.cases import Choice
from bot.extract.invocation import Invocation
from bot.log.people import People


@dataclass(frozen=True)
class Choices:
    """What people have chosen for themselves, before what is set for all.

    Attributes:
        people: What they have chosen.
        default: The rubric and the visibility of a request that names neither.
        rubrics: The names of the rubrics to choose from.
    """

    people: People
    default: Choice
    rubrics: tuple[str, ...]

    async def of(self, invocation: Invocation) -> Choice:
        """What holds for this person, where their request does not say."""
        own = await self.people.visibility(invocation.team_id, invocation.user_id)
        return Choice(self.default.rubric, own or self.default.visibility)

    async def again(self, invocation: Invocation, earlier: LoggedCase) -> Choice:
        """The same for a case that repeats an earlier one: as they chose for themselves, and never more public."""
        own = await self.people.visibility(invocation.team_id, invocation.user_id)
        is_for_one = Visibility.ME in {own, earlier.visibility}
        return Choice(self.default.rubric, Visibility.ME if is_for_one else Visibility.THREAD)
