"""`/judge label`, the button in the Home tab, and the window that both open: scores before one sees the judge's."""

from dataclasses import dataclass, replace
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.label import Outcome
from bot.extract.clicks import clicked_home, clicked_window
from bot.extract.commands import LabelRequest, parse_label
from bot.extract.invocation import Invocation, to_invocation
from bot.extract.submissions import to_blind_submission
from bot.listeners.blind_window import BlindWindow
from bot.listeners.home import HomeTab
from bot.slack import ids
from bot.slack.access import Access
from bot.slack.teller import Teller
from bot.store.digests import Digests
from bot.views import blind as words
from bot.views.messages import sentence


@dataclass(frozen=True)
class LabelCommand:
    """Answers `/judge label`.

    Attributes:
        window: What shows the cases.
        digests: What channels have chosen.
        access: Who may change it.
        teller: What answers.
    """

    window: BlindWindow
    digests: Digests
    access: Access
    teller: Teller

    async def answer(self, invocation: Invocation, text: str) -> None:
        """Opens the window, or says or sets how many labels the channel wants; to the person alone."""
        try:
            request = parse_label(text)
            said = await self._do(invocation, request)
        except ValueError as exc:
            said = words.not_understood(str(exc))
        if said:
            await self.teller.tell(invocation.recipient, sentence(said))

    async def _do(self, invocation: Invocation, request: LabelRequest) -> str:
        if request.action == "open":
            return await self.window.open(invocation, invocation.channel_id)
        is_change = request.action == "weekly"
        if refusal := await self.access.refusal(invocation.channel_id, invocation.user_id, is_change):
            return words.no_access_text(refusal)
        if is_change:
            settings = await self.digests.channel(invocation.team_id, invocation.channel_id)
            await self.digests.save(replace(settings, labels_per_week=request.number), invocation.user_id)
        return words.weekly_text(await self.window.draws.budget(invocation.team_id, invocation.channel_id))


def register(app: AsyncApp, window: BlindWindow, tab: HomeTab) -> None:
    """Connects the window, and the button in the tab."""

    @app.action(ids.ACTION_BLIND)
    async def score_a_few_blind(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        visit = clicked_home(body)
        if refusal := await window.open(visit.invocation, visit.channel_id):
            await tab.publish(visit, refusal)

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
