"""Agree, disagree, and one's own score: people's labels of a verdict."""

from dataclasses import dataclass, replace
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import LoggedCase
from bot.domain.verdict import RecordedVerdict
from bot.extract.payloads import Invocation, clicked_case_id, clicked_feedback, to_invocation, to_label
from bot.listeners.desk import Desk, NoCaseError
from bot.log.labels import Label, Labels
from bot.slack import ids
from bot.views import messages
from bot.views.labels import confirmation, label_modal
from bot.views.refusals import BUTTON_TOO_SLOW, FOREIGN_LABEL

_SCALE = "The scale goes from {lowest} to {highest}."


def register(app: AsyncApp, desk: Desk) -> None:
    """Connects the buttons and the modal."""
    labels = Labels(desk.log)

    @app.action(ids.ACTION_DISAGREE)
    @app.action(ids.ACTION_AGREE)
    @app.action(ids.ACTION_FEEDBACK)
    async def agree_or_disagree(ack: AsyncAck, body: dict[str, Any]) -> None:
        case_id, agrees = clicked_feedback(body)
        visit = await _Visit.begin(desk, labels, to_invocation(body), case_id)
        await ack()
        if visit and agrees and visit.verdict.score is not None:
            label = Label(visit.verdict.score, None)
            await visit.confirm(label, await visit.record(label))
        elif visit:
            await visit.ask()

    @app.action(ids.ACTION_LABEL)
    async def own_score(ack: AsyncAck, body: dict[str, Any]) -> None:
        visit = await _Visit.begin(desk, labels, to_invocation(body), clicked_case_id(body))
        await ack()
        if visit:
            await visit.ask()

    @app.view(ids.VIEW_LABEL)
    async def record_own_score(ack: AsyncAck, body: dict[str, Any]) -> None:
        state, label = to_label(body)
        visit = await _Visit.begin(desk, labels, to_invocation(body), state.case_id)
        if visit is None:
            await ack()
        elif label is None or not visit.verdict.lowest <= label.score <= visit.verdict.highest:
            scale = _SCALE.format(lowest=visit.verdict.lowest, highest=visit.verdict.highest)
            await ack(response_action="errors", errors={ids.BLOCK_SCORE: scale})
        else:
            earlier = await visit.record(label)
            await ack()  # only now: a window that closes has been recorded
            await visit.confirm(label, earlier)


@dataclass(frozen=True)
class _Visit:
    """A person at a verdict that they may label."""

    desk: Desk
    labels: Labels
    invocation: Invocation
    case: LoggedCase
    verdict: RecordedVerdict

    @classmethod
    async def begin(cls, desk: Desk, labels: Labels, invocation: Invocation, case_id: int | None) -> "_Visit | None":
        """None where this person may not label this verdict; they have been told why."""
        case = await desk.known(invocation, case_id)
        verdict = await desk.log.verdict(case.id)
        if verdict is None:
            raise NoCaseError(f"case {case.id} has no verdict to label")
        visit = cls(desk, labels, invocation, case, verdict)
        if invocation.is_foreign:
            await visit._tell(FOREIGN_LABEL)
            return None
        return visit

    async def record(self, label: Label) -> Label | None:
        """Records the label; gives the one that it replaces."""
        return await self.labels.put(self.case, self.invocation.user_id, label)

    async def confirm(self, label: Label, earlier: Label | None) -> None:
        """Says to the person alone what is recorded now."""
        await self._tell(confirmation(self.case, self.verdict, label, earlier))

    async def ask(self) -> None:
        """Opens the modal that takes their own score."""
        label = await self.labels.get(self.case, self.invocation.user_id)
        view = label_modal(self.invocation.to_state(self.case.id), self.verdict, label)
        if not await self.desk.teller.open_modal(self.invocation.trigger_id, view):
            await self._tell(BUTTON_TOO_SLOW)

    async def _tell(self, sentence: str) -> None:
        # Beside the verdict, in its thread, whatever way the case came in.
        thread_ts = self.case.thread_ts or self.case.parent_ts
        recipient = replace(self.invocation.recipient_at(self.case), thread_ts=thread_ts, is_in_channel=False)
        await self.desk.teller.tell(recipient, messages.sentence(sentence))
