"""What a person's cases are judged by, and who sees them."""

from dataclasses import dataclass

from bot.domain.case import LoggedCase, Visibility
from bot.extract.cases import Choice
from bot.extract.invocation import Invocation
from bot.rubrics.choice import RubricChoice
from bot.store.digests import People


@dataclass(frozen=True)
class Choices:
    """What people have chosen for themselves, and channels for what is scored in them, before what is set for all.

    Attributes:
        people: What people have chosen.
        rubrics: What channels have, and what there is to choose from.
        visibility: Who sees a verdict where its requester has not chosen.
    """

    people: People
    rubrics: RubricChoice
    visibility: Visibility

    async def of(self, invocation: Invocation, channel_id: str | None = None) -> Choice:
        """What holds for this person where their request does not say; the channel is theirs, or that of a link."""
        channel_id = channel_id or invocation.channel_id
        own, rubric = await self.people.chosen(invocation.team_id, invocation.user_id, channel_id)
        return Choice(rubric or self.rubrics.default, own or self.visibility)

    async def again(self, invocation: Invocation, earlier: LoggedCase) -> Choice:
        """The same for a case that repeats an earlier one: as they chose for themselves, and never more public."""
        own, rubric = await self.people.chosen(invocation.team_id, invocation.user_id, earlier.channel_id)
        is_for_one = Visibility.ME in {own, earlier.visibility}
        return Choice(rubric or self.rubrics.default, Visibility.ME if is_for_one else Visibility.THREAD)
