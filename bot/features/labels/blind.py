"""The window for blind labels, given before the person sees the judge's score.

Before a case is shown to be labelled blind, and again before the label is recorded, Slack is asked
for the person's channels.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from slack_bolt.async_app import AsyncAck, AsyncApp
from sqlalchemy import select

from bot.domain.case import LoggedCase
from bot.domain.label import Label, Outcome
from bot.domain.verdict import CaseVerdict
from bot.features.labels import ids
from bot.features.labels import text as words
from bot.figures.quality import WEEKS, to_quality
from bot.services import Services
from bot.slack import ids as slack_ids
from bot.slack.blocks import Block, ModalState
from bot.slack.invocation import (
    Invocation,
    Raw,
    on_click,
    selected,
    to_invocation,
    typed,
    values_of,
)
from bot.slack.members import Listed, MembershipError
from bot.slack.messenger import Post
from bot.store.assignments import DrawnCase, NotRecordedError, answer_of
from bot.store.database import upsert
from bot.store.figures import Kind, Place, Span
from bot.store.schema import people
from bot.store.visibility import Origin
from judge.evaluation.stats import MeanEstimate

_IN_A_ROW = 3
"""After this many labels, the person sees how they compare with the judge's scores."""
_KEPT = ("type", "callback_id", "title", "submit", "close", "private_metadata")
"""What is kept of a window whose blocks change."""


def to_label(body: Raw, *, is_blind: bool) -> tuple[ModalState, Label | None]:
    """The state of a submitted window for a person's own score, and the label, or None without a
    valid score.
    """
    state = ModalState.of(body["view"])
    values = values_of(body)
    score_block = ids.BLOCK_SCORE
    reason_block = ids.BLOCK_REASON
    if is_blind:
        score_block = slack_ids.of(score_block, state.case_id)
        reason_block = slack_ids.of(reason_block, state.case_id)
    try:
        score = int(selected(values, score_block) or typed(values, score_block))
    except ValueError:
        return state, None
    return state, Label(score, typed(values, reason_block) or None)


def register(app: AsyncApp, services: Services) -> None:
    app.view(ids.VIEW_BLIND)(partial(_record, services))
    app.view(ids.VIEW_COMPARED)(partial(_go_on, services))
    on_click(app, ids.ACTION_BLIND)(partial(_score_a_few_blind, services))
    on_click(app, ids.ACTION_SKIP)(partial(_go_past, services))
    on_click(app, ids.ACTION_ASKED)(partial(_score_as_asked, services))
    on_click(app, ids.ACTION_ASK, ids.ACTION_STOP)(partial(_agree_or_stop, services))


async def _record(services: Services, ack: AsyncAck, body: Raw) -> None:
    state, label = to_label(body, is_blind=True)
    visit = await _visit(services, to_invocation(body), state)
    await ack(**await visit.submit(label))


async def _go_on(services: Services, ack: AsyncAck, body: Raw) -> None:
    visit = await _visit(services, to_invocation(body), ModalState.of(body["view"]))
    await ack(response_action="update", view=await visit.next())


async def _score_a_few_blind(services: Services, person: Invocation, _: Raw) -> None:
    if refusal := await open_window(services, person):
        await services.show_home(person, refusal)


async def _score_as_asked(services: Services, person: Invocation, _: Raw) -> None:
    await services.messenger.tell(person.recipient, await open_window(services, person))


async def _go_past(services: Services, person: Invocation, body: Raw) -> None:
    visit = await _visit(services, person, ModalState.of(body["view"]))
    await services.store.database.execute(answer_of(*visit.person, visit.case_id, Outcome.SKIPPED))
    await services.messenger.update_modal(body["view"]["id"], await visit.next())


async def _agree_or_stop(services: Services, person: Invocation, body: Raw) -> None:
    is_asked = person.action == ids.ACTION_ASK
    await _note_choice(services, person, is_asked=is_asked)
    if view := body.get("view"):
        changed = {key: view[key] for key in _KEPT if view.get(key)}
        changed["blocks"] = words.with_choice(view["blocks"], is_asked)
        await services.messenger.update_modal(view["id"], changed)
    else:
        message = body["message"]
        blocks = words.with_choice(message["blocks"], is_asked)
        await services.messenger.replace(person.recipient, Post(message["text"], blocks))


async def _note_choice(services: Services, person: Invocation, *, is_asked: bool) -> None:
    """Records whether the person wants to be asked."""
    values = {
        "team_id": person.team_id,
        "user_id": person.user_id,
        "is_asked": is_asked,
        "updated_at": services.clock(),
    }
    database = services.store.database
    await database.execute(upsert(database, people, values))


async def served_channels(services: Services, user_id: str) -> set[str]:
    """The person's channels in which replies are scored; none if Slack does not list them."""
    try:
        return _served(services, await services.memberships.of(user_id))
    except MembershipError:
        return set()


def _served(services: Services, listed: Mapping[str, Listed]) -> set[str]:
    return {
        channel_id
        for channel_id, channel in listed.items()
        if not channel.is_archived and services.policy.may_score(channel_id)
    }


async def open_window(services: Services, invocation: Invocation) -> str:
    """Opens the window with a case of this channel, in direct messages and the Home tab of any;
    returns why not, or an empty string.
    """
    state = ModalState(channel_id=invocation.place[1])
    visit = await _visit(services, invocation, state)
    view = await visit.draw()
    return await services.messenger.show(invocation, view) if view else await visit.why_none()


async def _visit(services: Services, invocation: Invocation, state: ModalState) -> "_Visit":
    theirs = _served(services, await services.memberships.now(invocation.user_id))
    return _Visit(services, (invocation.team_id, invocation.user_id), state, theirs)


@dataclass(frozen=True)
class _Visit:
    """A person (team and user id) at the window for blind labels, which remembers `state`.

    `theirs` are their open channels that the app serves, as Slack lists them now.
    """

    services: Services
    person: tuple[str, str]
    state: ModalState
    theirs: set[str]

    @property
    def case_id(self) -> int:
        return self.state.case_id or 0

    async def submit(self, label: Label | None) -> Raw:
        """The answer to Slack for a submitted window: what is wrong with the score, or the next
        window.
        """
        shown = await self.services.store.assignments.shown(*self.person, self.case_id)
        if shown and not (label and shown.lowest <= label.score <= shown.highest):
            wrong = words.off_scale(shown.lowest, shown.highest)
            return {
                "response_action": "errors",
                "errors": {slack_ids.of(ids.BLOCK_SCORE, shown.id): wrong},
            }
        note = await self._record(shown, label)
        visit = self
        if not note:
            labelled = (*self.state.labelled, self.case_id)
            visit = replace(self, state=self.state.model_copy(update={"labelled": labelled}))
        return {"response_action": "update", "view": await visit.next(note)}

    async def _record(self, shown: DrawnCase | None, label: Label | None) -> str:
        """Why the label was not recorded; empty if it was."""
        store = self.services.store
        with suppress(NotRecordedError):
            if shown and label and shown.channel_id in self.theirs:
                await store.assignments.record(*self.person, shown, label)
                return ""
        # Or it was recorded before, by a submission whose answer got lost.
        team_id, user_id = self.person
        case = await store.cases.find(team_id, self.case_id)
        known = await store.labels.get(case, user_id) if case else None
        is_there = known and known.is_blind and label and known.score == label.score
        return "" if is_there else words.NOT_RECORDED

    async def next(self, note: str = "") -> Block:
        """The window with the next case; or, after three labels or with no case left, with how the
        labels compare.
        """
        is_time = len(self.state.labelled) >= _IN_A_ROW
        if not is_time and (view := await self.draw(note)):
            return view
        blocks = []
        if compared := await self._compared():
            first, _ = compared[0]
            effect = await self._effect(first)
            blocks = words.compared_blocks(
                compared, self.services.identity.url, effect, is_asked=await self._is_asked()
            )
        if is_time:
            return words.compared_modal(self.state, blocks, note)
        return words.over_modal(await self.why_none(), blocks, note)

    async def _compared(self) -> list[tuple[LoggedCase, int]]:
        """What the person has labelled blind in this window, in their channels, and the labels."""
        store = self.services.store
        team_id, user_id = self.person
        compared = []
        for case in await store.cases.numbered(team_id, self.state.labelled):
            label = await store.labels.get(case, user_id)
            if case.channel_id in self.theirs and label and label.is_blind:
                compared.append((case, label.score))
        return compared

    async def _is_asked(self) -> bool:
        team_id, user_id = self.person
        query = select(people.c.is_asked).filter_by(team_id=team_id, user_id=user_id)
        return bool(await self.services.store.database.value(query))

    async def _effect(self, case: LoggedCase) -> str:
        """What a label of this case corrects, as it is now: the mean of a watched assistant, named,
        or of all replies that people chose.
        """
        name = ""
        place = Place(case.team_id, case.channel_id)
        if case.is_watched:
            name = await self.services.members.name_of(case.author_id or "")
            place = replace(place, author_id=case.author_id, origin=Origin.WATCHED)
        mean = None
        if verdict := await self.services.store.cases.verdict(case.id):
            mean = await self._mean(place, verdict)
        return words.effect(case.channel_id, name, mean)

    async def _mean(self, place: Place, verdict: CaseVerdict) -> MeanEstimate | None:
        """The mean of what was scored there lately like this verdict."""
        services = self.services
        now = services.clock()
        span = Span(services.schedule.current(now).before(WEEKS - 1).start, now)
        kind = Kind(verdict.lowest, verdict.highest, verdict.judge_version)
        counted = await services.store.tallies.counted(place, span, kind, [span.start])
        quality = to_quality(counted, kind.scale)
        return quality.mean if quality else None

    async def why_none(self) -> str:
        channel_id = self.state.channel_id
        assignments = self.services.store.assignments
        if not assignments.keeps_text:
            return words.NO_TEXTS
        if channel_id in self.theirs:
            budget = await assignments.budget(self.person[0], channel_id)
            if not budget.left:
                return words.weekly_text(budget)
        return words.NOTHING

    async def draw(self, note: str = "") -> Block | None:
        channel_id = self.state.channel_id or ""
        within = self.theirs if channel_id.startswith("D") else self.theirs & {channel_id}
        shown = await self.services.store.assignments.draw(*self.person, within)
        if shown is None:
            return None
        version = shown.rubric_version or ""
        rubric = await self.services.rubrics.find(
            self.person[0], shown.channel_id, shown.rubric, version
        )
        place = f"{len(self.state.labelled) + 1} of at most {_IN_A_ROW}"
        return words.blind_modal(self.state, shown, rubric, place, note)
