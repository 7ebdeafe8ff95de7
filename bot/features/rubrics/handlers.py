"""`/judge rubric` and `/judge reference`: a channel's choices, their windows, and the buttons under
a comparison.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import Recipient
from bot.domain.clock import utc_now
from bot.feature import Services
from bot.features.rubrics import decisions, ids
from bot.features.rubrics import text as words
from bot.features.rubrics.comparison import tell_channel, use
from bot.features.rubrics.queries import LEAST, MOST, JudgeRequests
from bot.features.rubrics.text import DEFAULT, typed_rubric
from bot.pipeline.text import not_understood
from bot.slack import blocks as ui
from bot.slack import invocation as payloads
from bot.slack.invocation import Invocation, Raw, unknown
from bot.slack.messenger import Post
from bot.store.examples import Aim
from bot.store.rubrics import (
    MOST_RUBRICS,
    ChannelJudge,
    RubricGoneError,
    RubricInUseError,
    SavedBeforeError,
    SavedRubric,
    TooManyRubricsError,
)
from judge import DEFAULT_RUBRIC, find_flags
from judge.scoring.rubric import reference_version


def register(app: AsyncApp, services: Services) -> None:
    decisions.register(app, services)

    @payloads.on_click(app, re.compile(f"^{ids.ACTION_RUBRIC}(?:use|view|edit)$"))
    async def press(invocation: Invocation, _: Raw) -> None:
        request = [invocation.action.removeprefix(ids.ACTION_RUBRIC), invocation.value]
        await services.messenger.tell(
            invocation.recipient, await _answer(services, invocation, request)
        )

    payloads.on_click(app, ids.ACTION_RUBRIC_DELETE)(partial(_delete, services))

    @app.view(ids.VIEW_RUBRIC)
    async def save(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack(**await _save(services, body))

    @app.view(ids.VIEW_RUBRIC_SAVED)
    async def use_it(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation, state = payloads.to_invocation(body), ui.ModalState.of(body["view"])
        await ack()
        channel_id = invocation.window_channel_id or ""
        said = await services.access.refusal(invocation, "rubrics", channel_id, is_change=True)
        if not said:
            wanted = ChannelJudge(state.rubric, state.version)
            said = await _begin(
                services, invocation.team_id, channel_id, invocation.user_id, wanted
            )
        # A person who may change the channel's rubrics is in the channel; anybody else is told in a
        # direct message.
        here = Recipient(
            invocation.user_id, channel_id, response_url=invocation.response_url, is_in_channel=True
        )
        await services.messenger.tell(here, said)

    payloads.on_click(app, ids.ACTION_REFERENCE_DELETE)(partial(_delete_reference, services))

    @app.view(ids.VIEW_REFERENCE)
    async def save_reference(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation, state, values = (
            payloads.to_invocation(body),
            ui.ModalState.of(body["view"]),
            body["view"]["state"],
        )
        text = "\n".join(
            filter(
                None, (payloads.typed(values["values"], field) for field in words.REFERENCE_FIELDS)
            )
        )
        why = (
            words.TOO_LONG.format(n=len(text))
            if len(text) > words.MOST_OF_REFERENCE
            else words.NO_TEXT * (not text)
        )
        if why := why or await _refer(services, invocation, state, text):
            await ack(response_action="errors", errors={words.REFERENCE_FIELDS[0]: why})
            return
        said = words.SAVED.format(version=reference_version(text)) + words.ORDERS * bool(
            find_flags("", "", (), text)
        )
        await ack(response_action="update", view=words.message_modal(said))
        if payloads.selected(values["values"], ids.BLOCK_RUBRIC) == words.REFERENCE_RUBRIC:
            here = Recipient(invocation.user_id, state.channel_id or "", None, state.response_url)
            wanted = (
                invocation.team_id,
                here.channel_id,
                here.user_id,
                ChannelJudge(words.REFERENCE_RUBRIC),
            )
            await services.messenger.tell(here, await _begin(services, *wanted))


async def _delete_reference(services: Services, invocation: Invocation, body: Raw) -> None:
    state, user_id = ui.ModalState.of(body["view"]), invocation.user_id
    place = invocation.team_id, state.channel_id or ""
    said = await _refer(services, invocation, state, None) or words.DELETED
    if said == words.DELETED and (await services.rubrics.of(*place)).needs_reference:
        default = ChannelJudge(model=(await services.rubrics.log.chosen(*place)).model)
        said = f"{said} {await use(services, *place, user_id, default)}"
    await services.messenger.update_modal(body["view"]["id"], words.message_modal(said))


async def answer_reference(services: Services, invocation: Invocation, _: str) -> str:
    place = invocation.team_id, invocation.channel_id
    known, refusal = (
        (await services.rubrics.log.chosen(*place)).reference or "",
        services.access.refusal,
    )
    if why := await refusal(invocation, "references", is_change=True):
        if not known or await refusal(invocation, "references", is_change=False):
            return why
        view = ui.page("Reference", ui.quotes(known, words.ROOM))
    else:
        state = invocation.to_state().model_copy(update={"version": reference_version(known)})
        view = words.reference_modal(state, known, await services.rubrics.of(*place))
    return await services.messenger.show(invocation, view)


async def _refer(
    services: Services, invocation: Invocation, state: ui.ModalState, text: str | None
) -> str:
    """Saves a channel's reference, or with None deletes it, and tells the channel; returns why not,
    if so.
    """
    place, user_id = (invocation.team_id, state.channel_id or ""), invocation.user_id
    if refusal := await services.access.refusal(invocation, "references", place[1], is_change=True):
        return refusal
    if reference_version(text or "") == state.version:
        return ""
    if not await services.rubrics.log.refer(*place, user_id, text, state.version or ""):
        return words.CHANGED
    await services.store.forgetting.scrub()
    what = "changed" if text else "deleted"
    await tell_channel(
        services, *place, words.REFERENCE_TOLD.format(user=user_id, what=what, channel=place[1])
    )
    return ""


async def answer(services: Services, invocation: Invocation, text: str) -> Post | str:
    return await _answer(services, invocation, text.split())


async def _answer(services: Services, invocation: Invocation, typed: Sequence[str]) -> Post | str:
    """Answers `/judge rubric`, and the buttons of its list; names of models keep their upper and
    lower case.
    """
    place, log = (invocation.team_id, invocation.channel_id), services.rubrics.log
    if refusal := await services.access.refusal(
        invocation, "rubrics", is_change=bool(typed) and typed[0] != "view"
    ):
        return refusal
    match typed:
        case []:
            chosen, made, models = (
                await log.chosen(*place),
                await log.newest(*place),
                services.settings.judge_models,
            )
            return words.state(
                chosen, services.rubrics.default, list(services.rubrics.shipped), made, models
            )
        case ["use", name] | ["use", name, _]:
            wanted = ChannelJudge(name.lower(), model=typed[2] if len(typed) > 2 else None)
            return await _begin(services, *place, invocation.user_id, wanted)
        case ["view", name]:
            return await _open(services, invocation, name.lower(), is_edit=False)
        case ["edit"] | ["edit", _]:
            return await _open(services, invocation, "".join(typed[1:]).lower(), is_edit=True)
        case ["improve"]:
            return await decisions.begin(services, *place, invocation.user_id)
        case ["delete", name]:
            name, own = name.lower(), {saved.name: saved for saved in await log.newest(*place)}
            if name not in own:
                return words.not_made_here(name, list(own))
            chosen = await log.chosen(*place)
            is_used = chosen.rubric == name and chosen.version is not None
            return words.not_deleted_in_use(name) if is_used else words.ask_to_delete(own[name])
        case _:
            return not_understood(unknown(" ".join(typed)), words.HELP)


async def _delete(services: Services, invocation: Invocation, _: Raw) -> None:
    name, log = invocation.value, services.rubrics.log
    place = invocation.team_id, invocation.channel_id
    said = await services.access.refusal(invocation, "rubrics", is_change=True)
    try:
        if not said:
            await log.delete(*place, name, invocation.user_id)
            await services.messenger.replace(invocation.recipient, words.deleted(name))
    except RubricGoneError:
        said = words.not_made_here(name, [saved.name for saved in await log.newest(*place)])
    except RubricInUseError:
        said = words.not_deleted_in_use(name)
    await services.messenger.tell(invocation.recipient, said)


async def _open(services: Services, invocation: Invocation, name: str, *, is_edit: bool) -> str:
    """Opens a window to view or edit the requested rubric, or the default one; returns the reason
    if it cannot.

    To edit an unknown name is to make a rubric of that name. No window opens for a new rubric that
    could not be saved.
    """
    rubrics, place = services.rubrics, (invocation.team_id, invocation.channel_id)
    own = await rubrics.log.find(*place, name) if name else None
    rubric = own.rubric if own else rubrics.shipped_as(name or DEFAULT_RUBRIC)
    new_name = "" if rubric else name
    if is_edit:
        rubric = rubric or rubrics.shipped[DEFAULT_RUBRIC]
    if rubric is None:
        return words.no_rubric(name, await rubrics.names(*place))
    if not is_edit:
        view = words.view_modal(rubric)
    elif not words.fits(rubric.prompt):
        return words.TOO_LONG_TO_EDIT
    elif own is None and len(await rubrics.log.newest(*place)) >= MOST_RUBRICS:
        return words.TOO_MANY
    else:
        began_with = {"rubric": own.name, "version": rubric.version} if own else {}
        view = words.rubric_modal(
            invocation.to_state().model_copy(update=began_with), rubric, new_name
        )
    return await services.messenger.show(invocation, view)


async def _save(services: Services, body: dict[str, Any]) -> dict[str, Any]:
    """Saves a rubric's next version; returns what acknowledges its window: errors, or what the
    model will get.
    """
    invocation, state = payloads.to_invocation(body), ui.ModalState.of(body["view"])
    (name, prompt), place = (
        typed_rubric(body),
        (invocation.team_id, invocation.window_channel_id or ""),
    )
    if refusal := await services.access.refusal(invocation, "rubrics", place[1], is_change=True):
        return {
            "response_action": "update",
            "view": words.message_modal(words.NOT_HERE.format(why=refusal)),
        }
    if errors := words.errors(
        name, prompt, is_shipped=services.rubrics.shipped_as(name) is not None
    ):
        return {"response_action": "errors", "errors": errors}
    last = await services.rubrics.log.find(*place, name)
    new = SavedRubric(
        *place, name, last.number + 1 if last else 1, prompt, invocation.user_id, utc_now()
    )
    began_with = state.version if state.rubric == name else None
    try:
        if last is None or last.prompt != prompt:
            if last and last.rubric.version != began_with:
                raise SavedBeforeError(name)
            await services.rubrics.log.save(new)
    except TooManyRubricsError:
        errors = {ids.BLOCK_NAME: words.TOO_MANY}
    except SavedBeforeError:  # somebody else's version is not replaced
        taken = words.TAKEN_NAME if began_with is None else words.SAVED_MEANWHILE
        errors = {ids.BLOCK_NAME: taken.format(name=name)}
    if errors:
        return {"response_action": "errors", "errors": errors}
    state = state.model_copy(update={"rubric": name, "version": new.rubric.version})
    return {"response_action": "update", "view": words.saved_modal(state, new.rubric)}


async def _begin(
    services: Services, team_id: str, channel_id: str, user_id: str, wanted: ChannelJudge
) -> str:
    """Switches a channel to this judge, or begins a comparison first, and returns what to tell the
    person.

    Without a version, the rubric's newest version is used. Without a model, the channel keeps its
    current one.
    """
    rubrics, models, place = services.rubrics, services.settings.judge_models, (team_id, channel_id)
    chosen = await rubrics.log.chosen(*place)
    if wanted.model and wanted.model not in (DEFAULT, *models):
        return words.no_model(wanted.model, models)
    model = None if wanted.model == DEFAULT else wanted.model or chosen.model
    name = wanted.rubric or ""
    if name == DEFAULT:
        judge = ChannelJudge(model=model if wanted.model else None)
    else:
        rubric = await rubrics.find(*place, name, wanted.version)
        if rubric is None:
            return words.no_rubric(name, await rubrics.names(*place))
        if rubric.needs_reference and not chosen.reference:
            return words.NEEDS_REFERENCE.format(name=f"`{rubric.name}`")
        is_own = await rubrics.log.find(*place, name, rubric.version)
        judge = ChannelJudge(rubric.name, rubric.version if is_own else None, model)
    now, then = (replace(each, rubric=each.rubric or rubrics.default) for each in (chosen, judge))
    if now == then:
        if (
            judge != chosen
        ):  # the same for now, but a change of the app's default would affect only one of them
            await use(services, *place, user_id, judge)
        return words.unchanged(judge, rubrics.default)
    log = JudgeRequests(services.store.database)
    if len(cases := [each.case for each in await log.labelled(*place, most=MOST)]) >= LEAST:
        await log.begin(Aim.COMPARE, *place, user_id, judge)
        tokens = 2 * sum(
            services.limits.expected_tokens(each.question, each.response) for each in cases
        )
        name = words.named(judge, rubrics.default)
        return words.BEGUN.format(judge=name, n=len(cases), tokens=f"{round(tokens, -3):,}")
    if earlier := await log.of(Aim.COMPARE, *place):
        await log.drop(earlier.id)
    return f"{await use(services, *place, user_id, judge)} {words.TOO_FEW_LABELS}"
