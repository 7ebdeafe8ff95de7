"""The window in which a channel's rubric is made or changed."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from bot.domain.clock import utc_now
from bot.domain.rubric import MOST_RUBRICS, SavedRubric
from bot.extract.invocation import Invocation
from bot.extract.submissions import RubricSubmission
from bot.rubrics.choice import RubricChoice
from bot.slack import ids
from bot.slack.access import Access
from bot.slack.teller import Teller
from bot.store.rubrics import SavedBeforeError
from bot.views import rubric_settings as words
from bot.views import rubric_window as views
from bot.views.refusals import COMMAND_TOO_SLOW
from judge import DEFAULT_RUBRIC

Answer = dict[str, Any]
"""How a submitted window is acknowledged."""


@dataclass(frozen=True)
class RubricWindow:
    """Shows a rubric, and saves what people make of it.

    Attributes:
        rubrics: What there is.
        access: Who may change it.
        teller: What opens the window.
    """

    rubrics: RubricChoice
    access: Access
    teller: Teller

    async def open(self, invocation: Invocation, name: str) -> str:
        """Opens the window with that rubric, or the usual one; else why not.

        A new one is not begun where it could not be saved.
        """
        team_id, channel_id = invocation.team_id, invocation.channel_id
        own = await self.rubrics.log.find(team_id, channel_id, name) if name else None
        rubric = own.rubric if own else self.rubrics.shipped_as(name or DEFAULT_RUBRIC)
        if rubric is None:
            return words.no_rubric(name, await self.rubrics.names(team_id, channel_id))
        if not views.fits(rubric.prompt):
            return words.TOO_LONG_TO_EDIT
        if own is None and len(await self._own_names(team_id, channel_id)) >= MOST_RUBRICS:
            return views.TOO_MANY
        state = invocation.to_state()
        if own:
            state = state.model_copy(update={"rubric": own.name, "version": rubric.version})
        opened = await self.teller.open_modal(invocation.trigger_id, views.rubric_modal(state, rubric))
        return "" if opened else COMMAND_TOO_SLOW

    async def submitted(self, invocation: Invocation, submission: RubricSubmission) -> Answer:
        """Saves the rubric; what is wrong with it, or the window as it shows what the model will get."""
        if refusal := await self.refusal(invocation):
            return {"response_action": "update", "view": views.message_modal(views.NOT_HERE.format(why=refusal))}
        name, prompt, channel_id = submission.name, submission.prompt, invocation.window_channel_id or ""
        if errors := views.errors(name, prompt, is_shipped=self.rubrics.shipped_as(name) is not None):
            return {"response_action": "errors", "errors": errors}
        own = await self._own_names(invocation.team_id, channel_id)
        if name not in own and len(own) >= MOST_RUBRICS:
            return {"response_action": "errors", "errors": {ids.BLOCK_NAME: views.TOO_MANY}}
        new = SavedRubric(
            invocation.team_id,
            channel_id,
            name,
            1,
            prompt,
            invocation.user_id,
            utc_now(),
        )
        began_with = submission.state.version if submission.state.rubric == name else None
        try:
            await self._save(new, began_with)
        except SavedBeforeError:
            return {"response_action": "errors", "errors": views.taken(name, is_new=began_with is None)}
        state = submission.state.model_copy(update={"rubric": name, "version": new.rubric.version})
        return {"response_action": "update", "view": views.saved_modal(state, new.rubric)}

    async def refusal(self, invocation: Invocation) -> str:
        """Why this person may not change the rubrics of the channel of a window; empty where they may."""
        if invocation.is_foreign:
            return words.FOREIGN_RUBRIC
        found = await self.access.refusal(invocation.window_channel_id or "", invocation.user_id, is_change=True)
        return words.no_access_text(found) if found else ""

    async def _own_names(self, team_id: str, channel_id: str) -> Collection[str]:
        return {saved.name for saved in await self.rubrics.log.newest(team_id, channel_id)}

    async def _save(self, new: SavedRubric, began_with: str | None) -> None:
        """Keeps it as the next version of that name, unless it is what stands there.

        Raises:
            SavedBeforeError: Another version was saved since the one that it began with.
        """
        last = await self.rubrics.log.find(new.team_id, new.channel_id, new.name)
        if last is None:
            await self.rubrics.log.save(new)
        elif last.prompt != new.prompt:
            if last.rubric.version != began_with:
                raise SavedBeforeError(new.name)
            await self.rubrics.log.save(replace(new, number=last.number + 1))
