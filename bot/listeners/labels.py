"""Agree, disagree, and one's own score: people's labels of a verdict."""

from dataclasses import dataclass, replace
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import LoggedCase
from bot.domain.label import Label
from bot.domain.verdict import RecordedVerdict
from bot.extract.clicks import clicked_case_id, clicked_feedback
from bot.extract.invocation import Invocation, to_invocation
from bot.extract.submissions import to_label_submission
from bot.listeners.case_access import CaseAccess, NoCaseError
from bot.slack import ids
from bot.slack.teller import Teller
from bot.store.assignments import Assignments as Draws
from bot.store.cases import Cases
from bot.store.labels import Labels
from bot.views.labels import blind_stands, confirmation, label_modal, off_scale
from bot.views.messages import sentence
from bot.views.refusals import BUTTON_TOO_SLOW, FOREIGN_LABEL, OWN_LABEL


def register(app: AsyncApp, cases: Cases, labels: Labels, draws: Draws, access: CaseAccess, teller: Teller) -> None:
    """Connects the buttons and the window."""
    labelling = _Labelling(cases, labels, draws, access, teller)

    @app.action(ids.ACTION_DISAGREE)
    @app.action(ids.ACTION_AGREE)
    @app.action(ids.ACTION_FEEDBACK)
    async def agree_or_disagree(ack: AsyncAck, body: dict[str, Any]) -> None:
        feedback = clicked_feedback(body)
        visit = await labelling.begin(to_invocation(body), feedback.case_id)
        await ack()
        if visit and feedback.agrees and visit.verdict.score is not None:
            label = Label(visit.verdict.score, None)
            await labelling.confirm(visit, label, await labelling.record(visit, label))
        elif visit:
            await labelling.ask(visit)

    @app.action(ids.ACTION_LABEL)
    async def own_score(ack: AsyncAck, body: dict[str, Any]) -> None:
        visit = await labelling.begin(to_invocation(body), clicked_case_id(body))
        await ack()
        if visit:
            await labelling.ask(visit)

    @app.view(ids.VIEW_LABEL)
    async def record_own_score(ack: AsyncAck, body: dict[str, Any]) -> None:
        submission = to_label_submission(body)
        label, visit = submission.label, await labelling.begin(to_invocation(body), submission.state.case_id)
        if visit is None:
            await ack()
        elif label is None or not visit.verdict.lowest <= label.score <= visit.verdict.highest:
            wrong = off_scale(visit.verdict.lowest, visit.verdict.highest)
            await ack(response_action="errors", errors={ids.BLOCK_SCORE: wrong})
        else:
            earlier = await labelling.record(visit, label)
            await ack()  # only now: a window that closes has been recorded
            await labelling.confirm(visit, label, earlier)


@dataclass(frozen=True)
class _Visit:
    """A person at a verdict that they may label."""

    invocation: Invocation
    case: LoggedCase
    verdict: RecordedVerdict


@dataclass(frozen=True)
class _Labelling:
    cases: Cases
    labels: Labels
    draws: Draws
    access: CaseAccess
    teller: Teller

    async def begin(self, invocation: Invocation, case_id: int | None) -> _Visit | None:
        """None where this person may not label this verdict; they have been told why."""
        case = await self.access.known(invocation, case_id)
        verdict = await self.cases.verdict(case.id)
        if verdict is None:
            raise NoCaseError(f"case {case.id} has no verdict to label")
        visit = _Visit(invocation, case, verdict)
        if refusal := await self._refusal(visit):
            await self._tell(visit, refusal)
            return None
        return visit

    async def _refusal(self, visit: _Visit) -> str | None:
        if visit.case.author_id == visit.invocation.user_id:
            return OWN_LABEL
        if visit.invocation.is_foreign:
            return FOREIGN_LABEL
        label = await self.labels.get(visit.case, visit.invocation.user_id)
        return blind_stands(visit.case, visit.verdict, label) if label and label.is_blind else None

    async def record(self, visit: _Visit, label: Label) -> Label | None:
        """Records the label; gives the one that it replaces."""
        return await self.labels.put(visit.case, visit.invocation.user_id, label)

    async def confirm(self, visit: _Visit, label: Label, earlier: Label | None) -> None:
        """Says to the person alone what is recorded now, unless it was so before."""
        if label != earlier:
            await self._tell(visit, confirmation(visit.case, visit.verdict, label, earlier))

    async def ask(self, visit: _Visit) -> None:
        """Opens the window that takes their own score."""
        label = await self.labels.get(visit.case, visit.invocation.user_id)
        await self.draws.note_told(visit.case, visit.invocation.user_id)
        view = label_modal(visit.invocation.to_state(visit.case.id), visit.verdict, label)
        if not await self.teller.open_modal(visit.invocation.trigger_id, view):
            await self._tell(visit, BUTTON_TOO_SLOW)

    async def _tell(self, visit: _Visit, text: str) -> None:
        # Beside the verdict, in its thread, whatever way the case came in.
        thread_ts = visit.case.thread_ts or visit.case.parent_ts
        recipient = replace(visit.invocation.recipient_at(visit.case), thread_ts=thread_ts, is_in_channel=False)
        await self.teller.tell(recipient, sentence(text))
