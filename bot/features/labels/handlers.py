"""Labels given by the buttons under a verdict, and blind labels, given before the person sees the judge's score.

Before a case is shown to be labelled blind, and again before the label is recorded, Slack is asked for the person's
channels.
"""

import re
from dataclasses import dataclass, replace
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from sqlalchemy import select

from bot.domain.blocker import CHANNEL_OFF
from bot.domain.case import LoggedCase, to_case_id
from bot.domain.label import Label, Outcome
from bot.domain.verdict import CaseVerdict
from bot.feature import Services
from bot.features.labels import ids
from bot.features.labels import text as words
from bot.features.labels.queries import has_recorded, read_compared, wants_to_be_asked
from bot.figures.quality import last_weeks, read_quality
from bot.pipeline.case_access import NoCaseError
from bot.pipeline.text import BUTTON_TOO_SLOW, COMMAND_TOO_SLOW
from bot.slack import ids as slack_ids
from bot.slack import invocation as payloads
from bot.slack.blocks import ModalState
from bot.slack.commands import unknown
from bot.slack.invocation import Invocation
from bot.slack.members import MembershipError
from bot.slack.messenger import Post
from bot.store.assignments import DrawnCase, EnoughError, NotRecordedError, answer_of
from bot.store.database import upsert
from bot.store.figures import Kind, Place
from bot.store.schema import cases, people
from bot.store.visibility import Origin, is_watched
from judge.evaluation.stats import MeanEstimate

_DIGITS = re.compile("[0-9]{1,10}")


def register(app: AsyncApp, services: Services) -> None:
    _register_seen(app, services)
    _register_blind(app, services)
    _register_asked(app, services)


def _register_seen(app: AsyncApp, services: Services) -> None:
    labels = services.store.labels

    @app.action(slack_ids.ACTION_DISAGREE)
    @app.action(slack_ids.ACTION_AGREE)
    @app.action(slack_ids.ACTION_LABEL)
    async def agree_or_disagree(ack: AsyncAck, body: dict[str, Any]) -> None:
        choice, _, number = payloads.clicked_value(body).rpartition(":")
        case_id, agrees = to_case_id(number), choice == slack_ids.AGREE
        visit = await _begin(services, payloads.to_invocation(body), case_id)
        await ack()
        if visit and agrees and visit.verdict.score is not None:
            label = Label(visit.verdict.score, None)
            await _confirm(services, visit, label, await labels.put(visit.case, visit.invocation.user_id, label))
        elif visit:
            case, invocation = visit.case, visit.invocation
            earlier = await labels.get(case, invocation.user_id)
            await services.store.assignments.note_told(case.team_id, [case.id], invocation.user_id)
            place, version = (case.team_id, case.channel_id), visit.verdict.rubric_version
            rubric = await services.rubrics.find(*place, case.rubric, version)
            view = words.label_modal(invocation.to_state(case.id), visit.verdict, earlier, rubric)
            if not await services.messenger.open_modal(invocation.trigger_id, view):
                await _tell(services, visit, BUTTON_TOO_SLOW)

    @app.view(ids.VIEW_LABEL)
    async def record_own_score(ack: AsyncAck, body: dict[str, Any]) -> None:
        state, label = _to_label(body, is_blind=False)
        visit = await _begin(services, payloads.to_invocation(body), state.case_id)
        if visit is None:
            await ack()
        elif label is None or not visit.verdict.lowest <= label.score <= visit.verdict.highest:
            wrong = words.off_scale(visit.verdict.lowest, visit.verdict.highest)
            await ack(response_action="errors", errors={ids.BLOCK_SCORE: wrong})
        else:
            earlier = await labels.put(visit.case, visit.invocation.user_id, label)
            await ack()  # only now, so that the window closes only once the label is recorded
            await _confirm(services, visit, label, earlier)


def _to_label(body: dict[str, Any], *, is_blind: bool) -> tuple[ModalState, Label | None]:
    """The state of a submitted window for a person's own score, and the label, or None without a valid score."""
    state, values = payloads.to_state(body["view"]), body["view"]["state"]["values"]
    score_block, reason_block = (
        slack_ids.of(block, state.case_id) if is_blind else block for block in (ids.BLOCK_SCORE, ids.BLOCK_REASON)
    )
    try:
        score = int(payloads.selected(values, score_block) or payloads.typed(values, score_block))
    except ValueError:
        return state, None
    return state, Label(score, payloads.typed(values, reason_block) or None)


@dataclass(frozen=True)
class _Visit:
    invocation: Invocation
    case: LoggedCase
    verdict: CaseVerdict


async def _begin(services: Services, invocation: Invocation, case_id: int | None) -> _Visit | None:
    """The case and its verdict, or None if this person may not label it, after telling them why."""
    case = await services.case_access.known(invocation, case_id)
    verdict = await services.store.cases.verdict(case.id)
    if verdict is None:
        raise NoCaseError(f"case {case.id} has no verdict to label")
    visit = _Visit(invocation, case, verdict)
    if case.author_id == invocation.user_id:
        refusal = words.OWN_LABEL
    elif invocation.is_foreign:
        refusal = words.FOREIGN_LABEL
    else:
        label = await services.store.labels.get(case, invocation.user_id)
        if label is None or not label.is_blind:
            return visit
        refusal = words.blind_stands(case, verdict, label)
    await _tell(services, visit, refusal)
    return None


async def _confirm(services: Services, visit: _Visit, label: Label, earlier: Label | None) -> None:
    """Shows only the person the label that is now recorded, unless it is the same as before."""
    if label != earlier:
        await _tell(services, visit, words.confirmation(visit.case, visit.verdict, label, earlier))


async def _tell(services: Services, visit: _Visit, text: str) -> None:
    # Shown next to the verdict, in its thread, however the case was requested.
    thread_ts = visit.case.thread_ts or visit.case.parent_ts
    recipient = replace(visit.invocation.recipient_at(visit.case), thread_ts=thread_ts, is_in_channel=False)
    await services.messenger.tell(recipient, text)


async def answer(services: Services, invocation: Invocation, text: str) -> str:
    """Answers `/judge label`: opens the window, or shows or sets how many labels a week the channel collects."""
    match text.lower().split():
        case []:
            return await _open_blind(services, invocation, invocation.channel_id)
        case ["weekly"]:
            return await _weekly(services, invocation, None)
        case ["weekly", number] if _DIGITS.fullmatch(number) and int(number) <= words.MOST_WEEKLY:
            return await _weekly(services, invocation, int(number))
        case ["weekly", *_]:
            return words.not_understood(f"The number of blind scores a week is from 0 to {words.MOST_WEEKLY:,}")
        case _:
            return words.not_understood(str(unknown(text)))


async def _weekly(services: Services, invocation: Invocation, number: int | None) -> str:
    """How many labels a week the channel collects; sets it to `number` first, unless that is None."""
    if refusal := await services.access.refusal(invocation, "weekly blind scores", is_change=number is not None):
        return refusal
    place = invocation.team_id, invocation.channel_id
    if number is not None:
        await services.store.channels.save(*place, invocation.user_id, labels_per_week=number)
    return words.weekly_text(await services.store.assignments.budget(*place))


def _register_blind(app: AsyncApp, services: Services) -> None:
    @payloads.on_click(app, ids.ACTION_BLIND)
    async def score_a_few_blind(body: dict[str, Any]) -> None:
        visit = payloads.clicked_home(body)
        if refusal := await _open_blind(services, visit.invocation, visit.channel_id):
            await services.show_home(visit, refusal)

    @app.view(ids.VIEW_BLIND)
    async def record(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack(**await _submitted(services, payloads.to_invocation(body), *_to_label(body, is_blind=True)))

    @app.view(ids.VIEW_COMPARED)
    async def go_on(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation = payloads.to_invocation(body)
        theirs = await _theirs(services, invocation)
        await ack(**_update(await _next(services, invocation, payloads.to_state(body["view"]), theirs)))

    @payloads.on_click(app, ids.ACTION_SKIP, ids.ACTION_SEEN)
    async def go_past(body: dict[str, Any]) -> None:
        """Replaces a case that the person does not label with the next one; it is not shown to them again."""
        click, is_skip = payloads.clicked_window(body), payloads.clicked_action(body) == ids.ACTION_SKIP
        invocation, case_id = click.invocation, click.state.case_id or 0
        outcome = Outcome.SKIPPED if is_skip else Outcome.SEEN
        person = invocation.team_id, invocation.user_id
        await services.store.database.execute(answer_of(*person, case_id, outcome))
        view = await _next(services, invocation, click.state, await _theirs(services, invocation))
        await services.messenger.update_modal(click.view_id, view)

    @payloads.on_click(app, ids.ACTION_BEFORE)
    async def unfold(body: dict[str, Any]) -> None:
        """Shows what was said before the question; a case that the person may no longer see gives way to the next."""
        click = payloads.clicked_window(body)
        invocation, state = click.invocation, click.state
        theirs, person = await _theirs(services, invocation), (invocation.team_id, invocation.user_id)
        shown = await services.store.assignments.shown(*person, state.case_id or 0)
        if shown and shown.channel_id in theirs:
            within = _within(theirs, state.channel_id or "")
            view = await _window(services, invocation, state, shown, within, is_unfolded=True)
        else:
            view = await _next(services, invocation, state, theirs)
        await services.messenger.update_modal(click.view_id, view)


_KEPT = ("type", "callback_id", "title", "submit", "close", "private_metadata")  # of a window whose blocks change


def _register_asked(app: AsyncApp, services: Services) -> None:
    @payloads.on_click(app, ids.ACTION_ASKED)
    async def score_as_asked(body: dict[str, Any]) -> None:
        invocation = payloads.to_invocation(body)
        if refusal := await _open_blind(services, invocation, invocation.channel_id, ""):
            await services.messenger.tell(invocation.recipient, refusal)

    @payloads.on_click(app, ids.ACTION_ASK, ids.ACTION_STOP)
    async def agree_or_stop(body: dict[str, Any]) -> None:
        """Records whether the person wants to be asked, and offers the opposite where they clicked."""
        person, is_asked = payloads.to_invocation(body), payloads.clicked_action(body) == ids.ACTION_ASK
        values = {"team_id": person.team_id, "user_id": person.user_id, "is_asked": is_asked}
        values |= {"updated_at": services.clock()}
        await services.store.database.execute(upsert(services.store.database, people, values))
        place = body.get("view") or body["message"]
        blocks = words.with_choice(place["blocks"], is_asked)
        if "view" in body:
            kept = {key: place[key] for key in _KEPT if place.get(key)}
            await services.messenger.update_modal(place["id"], kept | {"blocks": blocks})
        else:
            await services.messenger.replace(person.response_url, Post(place["text"], blocks))


_IN_A_ROW = 3
"""After this many labels, the person sees how they compare with the judge's scores."""

View = dict[str, Any]


async def count_blind(services: Services, team_id: str, user_id: str) -> int:
    """How many cases this person can label blind; 0 if Slack does not list their channels."""
    try:
        listed = await services.memberships.of(user_id)
    except MembershipError:
        return 0
    channels = {each for each in listed if services.policy.may_score(each)}
    return await services.store.assignments.count(team_id, user_id, channels)


async def _open_blind(services: Services, invocation: Invocation, channel_id: str, before: str | None = None) -> str:
    """Opens the window with a case of this channel, in direct messages of any; returns why not, or an empty string."""
    if invocation.is_foreign:
        return words.FOREIGN_LABEL
    theirs = await _theirs(services, invocation)
    state = ModalState(channel_id=channel_id, before=before)
    view = await _draw(services, invocation, state, _within(theirs, channel_id))
    if view is None:
        return await _why_none(services, invocation, channel_id, theirs)
    return "" if await services.messenger.open_modal(invocation.trigger_id, view) else COMMAND_TOO_SLOW


async def _submitted(services: Services, invocation: Invocation, state: ModalState, label: Label | None) -> View:
    """The answer to Slack for a submitted window: what is wrong with the score, or the next window."""
    if invocation.is_foreign:
        return _update(words.over_modal(words.FOREIGN_LABEL, []))
    shown = await services.store.assignments.shown(invocation.team_id, invocation.user_id, state.case_id or 0)
    if shown and not (label and shown.lowest <= label.score <= shown.highest):
        wrong = words.off_scale(shown.lowest, shown.highest)
        return {"response_action": "errors", "errors": {slack_ids.of(ids.BLOCK_SCORE, shown.id): wrong}}
    theirs = await _theirs(services, invocation)
    if shown and state.before is not None and not state.labelled:
        # They are told what their labels change in one channel, so they are asked only about that of the first.
        before = words.between((await _corrected_by(services, invocation.team_id, shown.id))[1])
        state = state.model_copy(update={"channel_id": shown.channel_id, "before": before})
    note = await _record(services, invocation, shown, label, theirs)
    if note == words.NOT_RECORDED and label:
        person = invocation.team_id, invocation.user_id
        if await has_recorded(services.store.database, *person, state.case_id or 0, label):
            note = ""  # recorded before, by a submission whose answer got lost
    if not note:
        state = state.model_copy(update={"labelled": (*state.labelled, state.case_id)})
    return _update(await _next(services, invocation, state, theirs, note))


async def _next(
    services: Services, invocation: Invocation, state: ModalState, theirs: set[str], note: str = ""
) -> View:
    """The window with the next case; or, after three labels or with no case left, with how the labels compare."""
    team_id, user_id, channel_id = invocation.team_id, invocation.user_id, state.channel_id or ""
    is_time = len(state.labelled) >= _IN_A_ROW
    view = None if is_time else await _draw(services, invocation, state, _within(theirs, channel_id), note)
    if view:
        return view
    database, blocks = services.store.database, []
    if compared := await read_compared(database, team_id, user_id, state.labelled, theirs):
        changed = ""
        if state.before is not None:
            of = await _corrected_by(services, team_id, compared[0].case_id)
            changed = words.changed(compared[0].channel_id, state.before, *of)
        is_asked = await wants_to_be_asked(database, team_id, user_id)
        blocks = words.compared_blocks(compared, services.identity.url, changed, is_asked=is_asked)
    if is_time:
        return words.compared_modal(state, blocks, note)
    return words.over_modal(await _why_none(services, invocation, channel_id, theirs), blocks, note)


async def _corrected_by(services: Services, team_id: str, case_id: int) -> tuple[str, MeanEstimate | None]:
    """What a label of this case corrects, as it is now: the mean of a watched assistant, which is named, or of all."""
    now, kind = services.clock(), (cases.c.lowest, cases.c.highest, cases.c.judge_version)
    of = cases.c.channel_id, cases.c.author_id, is_watched(cases).label("is_watched")
    found = await services.store.database.one(select(*of, *kind).filter_by(team_id=team_id, id=case_id))
    if found is None:
        return "", None
    place = Place(team_id, found.channel_id, *((found.author_id, Origin.WATCHED) if found.is_watched else ()))
    its = Kind(found.lowest, found.highest, found.judge_version)
    span = last_weeks(services.schedule.current(now), now)
    quality = await read_quality(services.store.tallies, place, span, its)
    name = (await services.members.of(found.author_id)).name if found.is_watched else ""
    return name, quality.mean if quality else None


async def _record(
    services: Services, invocation: Invocation, shown: DrawnCase | None, label: Label | None, theirs: set[str]
) -> str:
    if shown is None or label is None:
        return words.NOT_RECORDED
    if shown.channel_id not in theirs:
        return words.LEFT
    try:
        await services.store.assignments.record(invocation.team_id, invocation.user_id, shown, label)
    except NotRecordedError:
        return words.NOT_RECORDED
    except EnoughError:
        return words.ENOUGH_MEANWHILE
    return ""


async def _theirs(services: Services, invocation: Invocation) -> set[str]:
    """The person's open channels that the app serves, as Slack lists them now; none for people of other companies."""
    if invocation.is_foreign:
        return set()
    listed = await services.memberships.now(invocation.user_id)
    are_open = {each for each, channel in listed.items() if not channel.is_archived}
    return {each for each in are_open if services.policy.may_score(each)}


async def _why_none(services: Services, invocation: Invocation, channel_id: str, theirs: set[str]) -> str:
    if not services.store.assignments.keeps_text:
        return words.NO_TEXTS
    if channel_id.startswith("D"):
        return words.NOTHING
    if not services.policy.may_score(channel_id):
        return CHANNEL_OFF
    if channel_id not in theirs:
        return words.NOT_YOURS
    budget = await services.store.assignments.budget(invocation.team_id, channel_id)
    if budget.left:
        return words.NOTHING
    return words.enough(budget) if budget.weekly else words.SWITCHED_OFF


async def _draw(
    services: Services, invocation: Invocation, state: ModalState, channel_ids: set[str], note: str = ""
) -> View | None:
    """The window with the person's next case from these channels; None if there is none."""
    shown = await services.store.assignments.draw(invocation.team_id, invocation.user_id, channel_ids)
    return await _window(services, invocation, state, shown, channel_ids, note) if shown else None


async def _window(
    services: Services,
    invocation: Invocation,
    state: ModalState,
    shown: DrawnCase,
    channel_ids: set[str],
    note: str = "",
    *,
    is_unfolded: bool = False,
) -> View:
    team_id, user_id = invocation.team_id, invocation.user_id
    rubric = await services.rubrics.find(team_id, shown.channel_id, shown.rubric, shown.rubric_version or "")
    given = len(state.labelled)
    in_a_row = min(_IN_A_ROW, given + await services.store.assignments.count(team_id, user_id, channel_ids))
    place = f"{given + 1} of {max(in_a_row, given + 1)}"
    return words.blind_modal(state, shown, rubric, place, note, is_unfolded=is_unfolded)


def _within(theirs: set[str], channel_id: str) -> set[str]:
    return theirs if channel_id.startswith("D") else theirs & {channel_id}


def _update(view: View) -> dict[str, Any]:
    return {"response_action": "update", "view": view}
