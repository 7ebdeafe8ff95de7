"""The window that takes a question and a response, from a command or from the Home tab."""

from dataclasses import dataclass

from bot.extract.clicks import HomeVisit
from bot.extract.invocation import Invocation
from bot.listeners.choices import Choices
from bot.slack.modal_state import ModalState
from bot.slack.teller import Teller
from bot.views.messages import sentence
from bot.views.modals import texts_modal
from bot.views.refusals import COMMAND_TOO_SLOW


@dataclass(frozen=True)
class TextsModal:
    """Opens the window.

    Attributes:
        choices: What it begins with.
        teller: What opens it.
    """

    choices: Choices
    teller: Teller

    async def open_here(self, invocation: Invocation) -> None:
        """Opens it where the person stands; where that comes too late, they are told."""
        choice = await self.choices.of(invocation)
        visibility = None if invocation.is_direct else choice.visibility
        names = await self.choices.rubrics.names(invocation.team_id, invocation.channel_id)
        view = texts_modal(invocation.to_state(), names, choice.rubric, visibility)
        if not await self.teller.open_modal(invocation.trigger_id, view):
            await self.teller.tell(invocation.recipient, sentence(COMMAND_TOO_SLOW))

    async def open_at_home(self, visit: HomeVisit) -> bool:
        """Whether it could be opened in the Home tab; the verdict then goes to the person's messages with the app."""
        state, rubrics = ModalState(channel_id=visit.channel_id), self.choices.rubrics
        view = texts_modal(state, list(rubrics.shipped), rubrics.default, None)
        return await self.teller.open_modal(visit.invocation.trigger_id, view) is not None
