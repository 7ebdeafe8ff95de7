"""The window in which people score replies before they see the judge's scores."""

from dataclasses import dataclass
from typing import Any

from bot.domain.blocker import Refusal, RefusalKind
from bot.domain.label import Label, Outcome
from bot.domain.limits import Policy
from bot.features.labels import text as words
from bot.features.labels.text import off_scale
from bot.pipeline.judges import RubricChoice
from bot.pipeline.text import COMMAND_TOO_SLOW, FOREIGN_LABEL, refusal_text
from bot.slack import ids
from bot.slack.blocks import ModalState
from bot.slack.invocation import Invocation, WindowClick
from bot.slack.members import MembershipError, Memberships
from bot.slack.messenger import Messenger
from bot.store.assignments import Assignments as Assignments
from bot.store.assignments import DrawnCase, EnoughError, NotRecordedError
from judge import Rubric

_IN_A_ROW = 3
"""After so many labels a person sees how they compare."""

View = dict[str, Any]


@dataclass(frozen=True)
class BlindWindow:
    """Shows people cases whose score they have not seen, and takes their labels.

    Who is in a channel is asked of Slack anew for every case, and once more before its label is recorded.
    """

    assignments: Assignments
    memberships: Memberships
    policy: Policy
    messenger: Messenger
    rubrics: RubricChoice
    workspace_url: str

    async def count(self, invocation: Invocation) -> int:
        """How many cases wait for a label of this person; 0 where Slack does not say which channels are theirs."""
        try:
            listed = await self.memberships.of(invocation.user_id)
        except MembershipError:
            return 0
        channels = {each for each in listed if self.policy.allows_messages_of(each)}
        return await self.assignments.count(invocation.team_id, invocation.user_id, channels)

    async def open(self, invocation: Invocation, channel_id: str) -> str:
        """Opens the window with a case of this channel, or of all that are the person's; else why not.

        Raises:
            MembershipError: Slack does not say which channels are theirs.
        """
        if invocation.is_foreign:
            return FOREIGN_LABEL
        theirs = await self._theirs(invocation)
        shown = await self.assignments.draw(invocation.team_id, invocation.user_id, _within(theirs, channel_id))
        if shown is None:
            return await self._why_none(invocation, channel_id, theirs)
        view = words.blind_modal(ModalState(channel_id=channel_id), shown, await self._rubric(invocation, shown))
        return "" if await self.messenger.open_modal(invocation.trigger_id, view) else COMMAND_TOO_SLOW

    async def submitted(self, invocation: Invocation, state: ModalState, label: Label | None) -> dict[str, Any]:
        """What to answer a submitted window: what is wrong with the score, or the next window.

        Raises:
            MembershipError: Slack does not say which channels are theirs; nothing was recorded.
        """
        if invocation.is_foreign:
            return _update(words.over_modal(FOREIGN_LABEL, (), self.workspace_url))
        shown = await self.assignments.shown(invocation.team_id, invocation.user_id, state.case_id or 0)
        if shown and not (label and shown.lowest <= label.score <= shown.highest):
            wrong = off_scale(shown.lowest, shown.highest)
            return {"response_action": "errors", "errors": {ids.of_case(ids.BLOCK_SCORE, shown.id): wrong}}
        theirs = await self._theirs(invocation)
        note = await self._record(invocation, shown, label, theirs)
        if note == words.NOT_RECORDED and label and await self._is_sent_again(invocation, state, label):
            note = ""
        if not note:
            state = state.model_copy(update={"labelled": (*state.labelled, state.case_id)})
        return _update(await self._next(invocation, state, theirs, note))

    async def go_on(self, invocation: Invocation, state: ModalState) -> dict[str, Any]:
        """What to answer whoever wants to go on after they have seen how their labels compare.

        Raises:
            MembershipError: Slack does not say which channels are theirs.
        """
        return _update(await self._next(invocation, state, await self._theirs(invocation)))

    async def pass_over(self, click: WindowClick, outcome: Outcome) -> None:
        """Shows the next case in place of one that gets no label, and never that one again."""
        invocation, case_id = click.invocation, click.state.case_id or 0
        await self.assignments.pass_over(invocation.team_id, invocation.user_id, case_id, outcome)
        view = await self._next(invocation, click.state, await self._theirs(invocation))
        await self.messenger.update_modal(click.view_id, view)

    async def _next(self, invocation: Invocation, state: ModalState, theirs: set[str], note: str = "") -> View:
        """The window as it goes on: after the third label in a row, and where none is left, how the labels compare."""
        team_id, user_id, channel_id = invocation.team_id, invocation.user_id, state.channel_id or ""
        is_time = len(state.labelled) >= _IN_A_ROW
        shown = None if is_time else await self.assignments.draw(team_id, user_id, _within(theirs, channel_id))
        if shown:
            return words.blind_modal(state, shown, await self._rubric(invocation, shown), note)
        compared = await self.assignments.compared(team_id, user_id, state.labelled, theirs)
        if is_time:
            return words.compared_modal(state, compared, self.workspace_url, note)
        why = await self._why_none(invocation, channel_id, theirs)
        return words.over_modal(why, compared, self.workspace_url, note)

    async def _record(
        self, invocation: Invocation, shown: DrawnCase | None, label: Label | None, theirs: set[str]
    ) -> str:
        """Records the label; why not, where it was not."""
        if shown is None or label is None:
            return words.NOT_RECORDED
        if shown.channel_id not in theirs:
            return words.LEFT
        try:
            await self.assignments.record(invocation.team_id, invocation.user_id, shown, label)
        except NotRecordedError:
            return words.NOT_RECORDED
        except EnoughError:
            return words.ENOUGH_MEANWHILE
        return ""

    async def _is_sent_again(self, invocation: Invocation, state: ModalState, label: Label) -> bool:
        """Whether this label is recorded: of a window whose answer got lost."""
        case_id = state.case_id or 0
        return await self.assignments.has_recorded(invocation.team_id, invocation.user_id, case_id, label)

    async def _theirs(self, invocation: Invocation) -> set[str]:
        """The channels that the person is in and that are served, asked of Slack anew; none for the foreign."""
        if invocation.is_foreign:
            return set()
        listed = await self.memberships.now(invocation.user_id)
        are_open = {each for each, channel in listed.items() if not channel.is_archived}
        return {each for each in are_open if self.policy.allows_messages_of(each)}

    async def _why_none(self, invocation: Invocation, channel_id: str, theirs: set[str]) -> str:
        if not self.assignments.keeps_text:
            return words.NO_TEXTS
        if channel_id.startswith("D"):
            return words.NOTHING
        if not self.policy.allows_messages_of(channel_id):
            return refusal_text(Refusal(RefusalKind.CHANNEL_OFF))
        if channel_id not in theirs:
            return words.NOT_YOURS
        budget = await self.assignments.budget(invocation.team_id, channel_id)
        if budget.left:
            return words.NOTHING
        return words.enough(budget) if budget.weekly else words.SWITCHED_OFF

    async def _rubric(self, invocation: Invocation, shown: DrawnCase) -> Rubric | None:
        """The rubric of a case as it was then, unless that is gone."""
        version = shown.rubric_version or ""
        return await self.rubrics.find(invocation.team_id, shown.channel_id, shown.rubric, version)


def _within(theirs: set[str], channel_id: str) -> set[str]:
    return theirs if channel_id.startswith("D") else theirs & {channel_id}


def _update(view: View) -> dict[str, Any]:
    return {"response_action": "update", "view": view}
