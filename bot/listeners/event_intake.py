"""Scores that an event asks for: durable before Slack is answered, and what is to be said to that after it.

Bolt acknowledges an event before its listener runs, and what is not acknowledged comes again. So an event is taken in
by a middleware, which hands the answer on to the listener.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import partial

from bot.docket.lookup import MayNotReadError, OutOfSightError
from bot.domain.case import CaseSource
from bot.domain.obstacle import Obstacle, ObstacleKind
from bot.domain.refusal import RefusedError
from bot.extract.cases import message_case
from bot.extract.invocation import Invocation
from bot.extract.messages import Message
from bot.listeners.choices import Choices
from bot.listeners.intake import Intake
from bot.slack.post import Post
from bot.views.messages import sentence
from bot.views.obstacles import obstacle_text
from bot.views.refusals import refusal_text

Answer = Callable[[], Awaitable[object]]
"""Says what a person is to be told, if anything, once Slack has been told that all is well."""

REFUSALS = (RefusedError, MayNotReadError, OutOfSightError)
"""Why there is nothing to score, or not for this person."""

_REMEMBERED = 1000
_NAME_WITHIN_S = 0.5


@dataclass(frozen=True)
class EventIntake:
    """Takes in what events ask for, and answers each once: Slack may send it more than once.

    Attributes:
        intake: Where cases are taken in.
        choices: What they are judged by.
    """

    intake: Intake
    choices: Choices
    _answered: deque[Hashable] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))

    async def take(self, invocation: Invocation, message: Message, source: CaseSource) -> Answer:
        """Takes in a message to score; it is durable on return.

        Raises:
            RefusedError: This person cannot have a case now.
        """
        named = await self._named(invocation)
        obstacle = obstacle_text(message.obstacle) if message.obstacle else None
        asked = message_case(named, message, await self.choices.of(named), obstacle, source)
        case, is_new = await self.intake.take(asked, named)
        return partial(self.intake.proceed, case, is_new, named)

    def says(self, invocation: Invocation, post: Post) -> Answer:
        """The answer that tells the person this, and nobody else."""
        return partial(self.intake.teller.tell, invocation.recipient, post)

    def refuses(self, invocation: Invocation, refusal: Exception) -> Answer:
        """The answer that tells the person why, by one of `REFUSALS`."""
        match refusal:
            case RefusedError():
                said = refusal_text(refusal.refusal)
            case MayNotReadError():
                said = obstacle_text(Obstacle(ObstacleKind.MAY_NOT_READ))
            case _:
                said = obstacle_text(Obstacle(ObstacleKind.GONE))
        return self.says(invocation, sentence(said))

    def is_first(self, event: Hashable) -> bool:
        """Whether an event, by whatever names it, is not answered yet; it is from now on."""
        if event in self._answered:
            return False
        self._answered.append(event)
        return True

    async def _named(self, invocation: Invocation) -> Invocation:
        """With the person's name, which an event does not tell."""
        found = await self.intake.members.of_all([invocation.user_id], _NAME_WITHIN_S)
        return replace(invocation, user_name=member.name) if (member := found.get(invocation.user_id)) else invocation
