"""Labels given by the buttons under a verdict, and `/judge label`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import LoggedCase, Recipient
from bot.domain.label import EVERYBODY, Label
from bot.domain.verdict import CaseVerdict
from bot.features.labels import blind, ids
from bot.features.labels import text as words
from bot.pipeline.fairness import with_choices
from bot.pipeline.quoting import change_posted
from bot.services import Services
from bot.slack import ids as slack_ids
from bot.slack.blocks import Block, Pressed
from bot.slack.client import SLACK_ERRORS, slack_word
from bot.slack.invocation import Invocation, Raw, to_invocation, unknown
from bot.slack.messenger import Posted

_BELOW_A_VERDICT = (slack_ids.ACTION_AGREE, slack_ids.ACTION_DISAGREE, slack_ids.ACTION_LABEL)
_IN_A_LIST = (slack_ids.ACTION_FAIR, slack_ids.ACTION_NOT_FAIR)
_AGREES = (slack_ids.ACTION_AGREE, slack_ids.ACTION_FAIR)
_DIGITS = re.compile("[0-9]{1,10}")

logger = structlog.get_logger(__name__)


def register(app: AsyncApp, services: Services) -> None:
    blind.register(app, services)
    for action in (*_BELOW_A_VERDICT, *_IN_A_LIST):
        app.action(action)(partial(_agree_or_disagree, services))
    app.view(ids.VIEW_LABEL)(partial(_record_own_score, services))


async def _agree_or_disagree(services: Services, ack: AsyncAck, body: Raw) -> None:
    person = to_invocation(body)
    press = _Press(services, person, _list_of(person, body))
    judged = await press.begin(person.case_id)
    await ack()
    if judged is None:
        return
    case, verdict = judged
    if person.action in _AGREES and verdict.score is not None:
        await press.record(case, verdict, Label(verdict.score, None))
    else:
        await press.ask(case, verdict)


def _list_of(person: Invocation, body: Raw) -> Pressed | None:
    """The list that a button was pressed in; None if it stands under a verdict."""
    if person.action not in _IN_A_LIST:
        return None
    ts = "" if person.is_ephemeral else person.message_ts
    view = (body.get("view") or {}).get("id", "")
    return Pressed(ts=ts, words=person.value.rpartition(":")[0], view=view)


async def _record_own_score(services: Services, ack: AsyncAck, body: Raw) -> None:
    state, label = blind.to_label(body, is_blind=False)
    press = _Press(services, to_invocation(body), state.pressed)
    judged = await press.begin(state.case_id)
    if judged is None:
        await ack()
        return
    case, verdict = judged
    if label is None or not verdict.lowest <= label.score <= verdict.highest:
        wrong = words.off_scale(verdict.lowest, verdict.highest)
        await ack(response_action="errors", errors={ids.BLOCK_SCORE: wrong})
        return
    await press.record(case, verdict, label, ack)


@dataclass(frozen=True)
class _Press:
    """A person's press of a button under a verdict, or in a list of replies: there it was
    `pressed`.
    """

    services: Services
    person: Invocation
    pressed: Pressed | None

    async def begin(self, case_id: int | None) -> tuple[LoggedCase, CaseVerdict] | None:
        """The case and its verdict, or None if this person may not label it, after telling them
        why.
        """
        access = self.services.case_access
        case = await access.known(self.person, case_id)
        verdict = await access.verdict(case)
        label = await self.services.store.labels.get(case, self.person.user_id)
        if case.author_id == self.person.user_id:
            await self._tell(case, words.OWN_LABEL)
        elif label and label.is_blind:
            await self._tell(case, words.blind_stands(case, verdict, label))
        else:
            return case, verdict
        return None

    async def ask(self, case: LoggedCase, verdict: CaseVerdict) -> None:
        """Opens the window for the person's own score, which shows the judge's."""
        person = self.person
        assignments = self.services.store.assignments
        await assignments.note_told(case.team_id, [case.id], person.user_id)
        window = await self._window(case, verdict)
        is_above = bool(self.pressed and self.pressed.view and self.pressed.words)
        refusal = await self.services.messenger.show(person, window, is_above=is_above)
        await self._tell(case, refusal)

    async def _window(self, case: LoggedCase, verdict: CaseVerdict) -> Block:
        services = self.services
        update = {"channel_id": self.person.place[1], "pressed": self.pressed}
        state = self.person.to_state(case.id).model_copy(update=update)
        earlier = await services.store.labels.get(case, self.person.user_id)
        rubric = await services.rubrics.find(
            case.team_id, case.channel_id, case.rubric, verdict.rubric_version
        )
        return words.label_modal(state, verdict, earlier, rubric)

    async def record(
        self, case: LoggedCase, verdict: CaseVerdict, label: Label, ack: AsyncAck | None = None
    ) -> None:
        """Records a label, tells the person alone, and shows it on the buttons of the list."""
        earlier = await self.services.store.labels.put(case, self.person.user_id, label)
        if ack:  # the window closes only once the label is recorded
            await ack()
        # In the Home tab and in a window, the button alone says it.
        if not (self.pressed and self.pressed.view):
            await self._tell(case, words.confirmation(case, verdict, label, earlier))
        if self.pressed:
            try:
                await self._show_choice(self.pressed)
            except SLACK_ERRORS as exc:  # the label is recorded, and the person knows
                logger.warning("message_not_changed", error=slack_word(exc))

    async def _show_choice(self, pressed: Pressed) -> None:
        """Shows what people have chosen by now on the buttons of the list."""
        services = self.services
        there = replace(self.person, channel_id=self.person.place[1])
        if pressed.view:
            await self._show_view(pressed)
        elif pressed.words:
            there = replace(there, window_channel_id=None)
            answer = await services.answer(there, pressed.words)
            await services.messenger.replace(there.recipient, answer)
        else:
            reader = there.user_id if there.is_direct else EVERYBODY

            async def change(blocks: Sequence[Block]) -> list[Block]:
                return await with_choices(services.store, there.team_id, blocks, reader)

            message = Posted(there.channel_id, pressed.ts)
            await change_posted(services.store, services.client, message, change)

    async def _show_view(self, pressed: Pressed, note: str = "") -> None:
        if pressed.words:
            await self.services.show_low(self.person, pressed.view, pressed.words, note)
        else:
            await self.services.show_home(self.person, note)

    async def _tell(self, case: LoggedCase, text: str) -> None:
        if text and self.pressed and self.pressed.view:
            await self._show_view(self.pressed, text)
        else:
            place = _place_of(self.person, case, is_in_list=self.pressed is not None)
            await self.services.messenger.tell(place, text)


def _place_of(person: Invocation, case: LoggedCase, *, is_in_list: bool) -> Recipient:
    """Where a person looks for the answer: next to the verdict, in its thread, or where they pressed
    a button in a digest, an alert or a direct message.
    """
    channel_id = person.place[1] or case.channel_id
    thread_ts = person.thread_ts
    if channel_id == case.channel_id and not is_in_list:
        thread_ts = case.thread_ts or case.parent_ts
    response_url = None if person.window_channel_id else person.response_url
    return Recipient(person.user_id, channel_id, thread_ts, response_url)


async def answer(services: Services, invocation: Invocation, text: str) -> str:
    """Answers `/judge label`: opens the window, or sets how many labels a week the channel
    collects.
    """
    match text.lower().split():
        case []:
            return await blind.open_window(services, invocation)
        case ["weekly", typed] if _DIGITS.fullmatch(typed) and int(typed) <= words.MOST_WEEKLY:
            number = int(typed)
        case _:
            return words.not_understood(str(unknown(text)))
    if refusal := await services.access.refusal(invocation, "weekly blind scores", is_change=True):
        return refusal
    place = invocation.place
    await services.store.channels.save(*place, invocation.user_id, labels_per_week=number)
    return words.weekly_text(await services.store.assignments.budget(*place))
