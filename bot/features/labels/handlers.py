"""Agree, disagree, and one's own score: people's labels of a verdict."""

from dataclasses import dataclass, replace
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import LoggedCase
from bot.domain.label import Label, Outcome
from bot.domain.verdict import RecordedVerdict
from bot.feature import Services
from bot.features.labels import text as words
from bot.features.labels.blind import BlindWindow
from bot.features.labels.text import blind_stands, confirmation, label_modal, off_scale
from bot.pipeline.intake import CaseAccess, NoCaseError
from bot.pipeline.text import BUTTON_TOO_SLOW, FOREIGN_LABEL, OWN_LABEL, sentence
from bot.slack import ids
from bot.slack.commands import LabelRequest, parse_label
from bot.slack.invocation import (
    Invocation,
    clicked_case_id,
    clicked_feedback,
    clicked_home,
    clicked_window,
    to_blind_submission,
    to_invocation,
    to_label_submission,
)
from bot.slack.members import Access
from bot.slack.messenger import Messenger
from bot.store.assignments import Assignments as Assignments
from bot.store.cases import Cases
from bot.store.digests import Digests
from bot.store.labels import Labels


def register(
    app: AsyncApp, cases: Cases, labels: Labels, assignments: Assignments, access: CaseAccess, messenger: Messenger
) -> None:
    labelling = _Labelling(cases, labels, assignments, access, messenger)

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
    invocation: Invocation
    case: LoggedCase
    verdict: RecordedVerdict


@dataclass(frozen=True)
class _Labelling:
    cases: Cases
    labels: Labels
    assignments: Assignments
    access: CaseAccess
    messenger: Messenger

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
        label = await self.labels.get(visit.case, visit.invocation.user_id)
        await self.assignments.note_told(visit.case, visit.invocation.user_id)
        view = label_modal(visit.invocation.to_state(visit.case.id), visit.verdict, label)
        if not await self.messenger.open_modal(visit.invocation.trigger_id, view):
            await self._tell(visit, BUTTON_TOO_SLOW)

    async def _tell(self, visit: _Visit, text: str) -> None:
        # Beside the verdict, in its thread, whatever way the case came in.
        thread_ts = visit.case.thread_ts or visit.case.parent_ts
        recipient = replace(visit.invocation.recipient_at(visit.case), thread_ts=thread_ts, is_in_channel=False)
        await self.messenger.tell(recipient, sentence(text))


@dataclass(frozen=True)
class LabelCommand:
    """Answers `/judge label`."""

    window: BlindWindow
    digests: Digests
    access: Access
    messenger: Messenger

    async def answer(self, invocation: Invocation, text: str) -> None:
        """Opens the window, or says or sets how many labels the channel wants; to the person alone."""
        try:
            request = parse_label(text)
            said = await self._do(invocation, request)
        except ValueError as exc:
            said = words.not_understood(str(exc))
        if said:
            await self.messenger.tell(invocation.recipient, sentence(said))

    async def _do(self, invocation: Invocation, request: LabelRequest) -> str:
        if request.action == "open":
            return await self.window.open(invocation, invocation.channel_id)
        is_change = request.action == "weekly"
        if refusal := await self.access.refusal(invocation.channel_id, invocation.user_id, is_change):
            return words.no_access_text(refusal)
        if is_change:
            settings = await self.digests.channel(invocation.team_id, invocation.channel_id)
            await self.digests.save(replace(settings, labels_per_week=request.number), invocation.user_id)
        return words.weekly_text(await self.window.assignments.budget(invocation.team_id, invocation.channel_id))


def blind_register(app: AsyncApp, window: BlindWindow, services: Services) -> None:
    @app.action(ids.ACTION_BLIND)
    async def score_a_few_blind(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        visit = clicked_home(body)
        if refusal := await window.open(visit.invocation, visit.channel_id):
            await services.show_home(visit, refusal)

    @app.view(ids.VIEW_BLIND)
    async def record(ack: AsyncAck, body: dict[str, Any]) -> None:
        submission = to_blind_submission(body)
        await ack(**await window.submitted(to_invocation(body), submission.state, submission.label))

    @app.view(ids.VIEW_COMPARED)
    async def go_on(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack(**await window.go_on(to_invocation(body), to_blind_submission(body).state))

    @app.action(ids.ACTION_SKIP)
    async def skip(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await window.pass_over(clicked_window(body), Outcome.SKIPPED)

    @app.action(ids.ACTION_SEEN)
    async def have_seen(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await window.pass_over(clicked_window(body), Outcome.SEEN)
