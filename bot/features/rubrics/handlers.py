"""`/judge rubric`: the list of a channel's rubrics, its buttons, and the windows to edit one."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import Recipient
from bot.domain.clock import utc_now
from bot.features.rubrics import ids, reference
from bot.features.rubrics import text as words
from bot.features.rubrics.choice import Wish, ask_first, switch
from bot.features.rubrics.queries import (
    MOST_RUBRICS,
    RubricChanges,
    RubricGoneError,
    RubricInUseError,
    SavedBeforeError,
    TooManyRubricsError,
)
from bot.features.rubrics.text import RubricState, typed_rubric
from bot.pipeline.text import not_understood
from bot.services import Services
from bot.slack import blocks as ui
from bot.slack import invocation as payloads
from bot.slack.invocation import Invocation, Raw, unknown
from bot.slack.messenger import Post
from bot.store.rubrics import SavedRubric
from judge import DEFAULT_RUBRIC, Rubric


def register(app: AsyncApp, services: Services) -> None:
    reference.register(app, services)

    @payloads.on_click(app, re.compile(f"^{ids.ACTION_RUBRIC}(?:use|view|edit)$"))
    async def press(invocation: Invocation, _: Raw) -> None:
        word = invocation.action.removeprefix(ids.ACTION_RUBRIC)
        said = await _answer(services, invocation, [word, invocation.value])
        await services.messenger.tell(invocation.recipient, said)

    payloads.on_click(app, ids.ACTION_RUBRIC_USE)(partial(_use, services))
    payloads.on_click(app, ids.ACTION_RUBRIC_DELETE)(partial(_delete, services))
    payloads.on_click(app, ids.ACTION_RUBRIC_ADVANCED)(partial(_show_prompt, services))

    @app.view(ids.VIEW_RUBRIC)
    async def save(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack(**await _save(services, body))

    @app.view(ids.VIEW_RUBRIC_SAVED)
    async def use_saved(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await _use_saved(services, body)


async def answer(services: Services, invocation: Invocation, text: str) -> Post | str:
    return await _answer(services, invocation, text.split())


async def _answer(services: Services, invocation: Invocation, typed: Sequence[str]) -> Post | str:
    """Answers `/judge rubric`, and the buttons of its list; names of models keep their upper and
    lower case.
    """
    is_change = bool(typed) and typed[0] != "view"
    if refusal := await services.access.refusal(invocation, "rubrics", is_change=is_change):
        return refusal
    match typed:
        case []:
            return await _list(services, invocation)
        case ["use", name, *more] if len(more) < 2:
            wish = Wish(rubric=name.lower(), model=more[0] if more else None)
            return await ask_first(
                services, invocation.team_id, invocation.channel_id, invocation.user_id, wish
            )
        case ["view", name]:
            return await _view(services, invocation, name.lower())
        case ["edit"]:
            return await _edit(services, invocation, "")
        case ["edit", name]:
            return await _edit(services, invocation, name.lower())
        case ["delete", name]:
            return await _ask_to_delete(services, invocation, name.lower())
        case _:
            return not_understood(unknown(" ".join(typed)), words.HELP)


async def _list(services: Services, invocation: Invocation) -> Post:
    rubrics = services.rubrics
    return words.state(
        await rubrics.log.chosen(invocation.team_id, invocation.channel_id),
        rubrics.default,
        list(rubrics.shipped),
        await rubrics.log.newest(invocation.team_id, invocation.channel_id),
        services.settings.judge_models,
    )


async def _use(services: Services, invocation: Invocation, _: Raw) -> None:
    """Gives the channel the judge of the button, whose message has said what that means."""
    wish = Wish.of(invocation.value)
    if wish is None:
        return
    refusal = await services.access.refusal(invocation, "rubrics", is_change=True)
    if refusal:
        await services.messenger.tell(invocation.recipient, refusal)
        return
    said = await switch(
        services, invocation.team_id, invocation.channel_id, invocation.user_id, wish
    )
    await services.messenger.replace(invocation.recipient, said)


async def _use_saved(services: Services, body: dict[str, Any]) -> None:
    """Gives the channel the rubric that its window has just saved."""
    invocation = payloads.to_invocation(body)
    state = ui.ModalState.of(body["view"])
    channel_id = invocation.window_channel_id or ""
    said = await services.access.refusal(invocation, "rubrics", channel_id, is_change=True)
    if not said:
        wish = Wish(rubric=state.rubric or "", version=state.version)
        said = await switch(services, invocation.team_id, channel_id, invocation.user_id, wish)
    # A person who may change the channel's rubrics is in the channel; anybody else is told in a
    # direct message.
    here = Recipient(
        invocation.user_id, channel_id, response_url=invocation.response_url, is_in_channel=True
    )
    await services.messenger.tell(here, said)


async def _view(services: Services, invocation: Invocation, name: str) -> str:
    """Opens a window with this rubric; returns what to tell the person if there is none."""
    rubrics = services.rubrics
    rubric = await rubrics.find(invocation.team_id, invocation.channel_id, name)
    if rubric is None:
        names = await rubrics.names(invocation.team_id, invocation.channel_id)
        return words.no_rubric(name, names)
    return await services.messenger.show(invocation, words.view_modal(rubric))


async def _edit(services: Services, invocation: Invocation, name: str) -> str:
    """Opens a window to edit this rubric, or without a name the default one; returns why it cannot.

    To edit an unknown name is to make a rubric of that name. No window opens for a new rubric that
    could not be saved.
    """
    rubrics = services.rubrics
    team_id = invocation.team_id
    channel_id = invocation.channel_id
    state = RubricState(channel_id=channel_id, response_url=invocation.response_url)
    new_name = ""
    saved = await rubrics.log.find(team_id, channel_id, name) if name else None
    if saved:
        rubric = saved.rubric
        state = state.model_copy(update={"rubric": saved.name, "version": rubric.version})
    else:
        shipped = rubrics.shipped_as(name or DEFAULT_RUBRIC)
        rubric = shipped or rubrics.shipped[DEFAULT_RUBRIC]
        state = state.model_copy(update={"based_on": rubric.name})
        if shipped is None:
            new_name = name
    if not words.fits(rubric.prompt):
        return words.TOO_LONG_TO_EDIT
    if saved is None and len(await rubrics.log.newest(team_id, channel_id)) >= MOST_RUBRICS:
        return words.TOO_MANY
    view = words.begin_modal(state, rubric.prompt, new_name)
    return await services.messenger.show(invocation, view)


async def _show_prompt(services: Services, _: Invocation, body: Raw) -> None:
    """Shows all of the prompt in the window, with what is typed there so far."""
    view = words.rubric_modal(RubricState.of(body["view"]), *typed_rubric(body))
    await services.messenger.update_modal(body["view"]["id"], view)


async def _save(services: Services, body: dict[str, Any]) -> dict[str, Any]:
    """Saves a rubric's next version; returns what acknowledges its window: errors, or what the
    model will get.
    """
    invocation = payloads.to_invocation(body)
    channel_id = invocation.window_channel_id or ""
    refusal = await services.access.refusal(invocation, "rubrics", channel_id, is_change=True)
    if refusal:
        view = words.message_modal(words.NOT_HERE.format(why=refusal))
        return {"response_action": "update", "view": view}
    state = RubricState.of(body["view"])
    name, prompt = typed_rubric(body)
    is_shipped = services.rubrics.shipped_as(name) is not None
    errors = words.errors(name, prompt, words.prompt_block(body), is_shipped=is_shipped)
    if errors:
        return {"response_action": "errors", "errors": errors}
    began_with = state.version if state.rubric == name else None
    try:
        rubric = await _saved(services, invocation, name, prompt, began_with)
    except TooManyRubricsError:
        errors = {ids.BLOCK_NAME: words.TOO_MANY}
        return {"response_action": "errors", "errors": errors}
    except SavedBeforeError:  # somebody else's version is not replaced
        taken = words.TAKEN_NAME if began_with is None else words.SAVED_MEANWHILE
        errors = {ids.BLOCK_NAME: taken.format(name=name)}
        return {"response_action": "errors", "errors": errors}
    state = state.model_copy(update={"rubric": name, "version": rubric.version})
    return {"response_action": "update", "view": words.saved_modal(state, rubric)}


async def _saved(
    services: Services, invocation: Invocation, name: str, prompt: str, began_with: str | None
) -> Rubric:
    """The rubric of the window's channel with this text, saved unless it is the last one's.

    Raises SavedBeforeError if the last one has another version than the one that the window
    `began_with`, and TooManyRubricsError.
    """
    channel_id = invocation.window_channel_id or ""
    last = await services.rubrics.log.find(invocation.team_id, channel_id, name)
    if last and last.prompt == prompt:
        return last.rubric
    if last and last.rubric.version != began_with:
        raise SavedBeforeError(name)
    new = SavedRubric(
        team_id=invocation.team_id,
        channel_id=channel_id,
        name=name,
        number=last.number + 1 if last else 1,
        prompt=prompt,
        saved_by=invocation.user_id,
        saved_at=utc_now(),
    )
    await RubricChanges(services.store.database).save(new)
    return new.rubric


async def _ask_to_delete(services: Services, invocation: Invocation, name: str) -> Post | str:
    log = services.rubrics.log
    newest = await log.newest(invocation.team_id, invocation.channel_id)
    own = {saved.name: saved for saved in newest}
    if name not in own:
        return words.not_made_here(name, list(own))
    chosen = await log.chosen(invocation.team_id, invocation.channel_id)
    if chosen.rubric == name and chosen.version is not None:
        return words.not_deleted_in_use(name)
    return words.ask_to_delete(own[name])


async def _delete(services: Services, invocation: Invocation, _: Raw) -> None:
    name = invocation.value
    team_id = invocation.team_id
    channel_id = invocation.channel_id
    refusal = await services.access.refusal(invocation, "rubrics", is_change=True)
    if refusal:
        await services.messenger.tell(invocation.recipient, refusal)
        return
    try:
        changes = RubricChanges(services.store.database)
        await changes.delete(team_id, channel_id, name, invocation.user_id)
    except RubricGoneError:
        newest = await services.rubrics.log.newest(team_id, channel_id)
        own = [saved.name for saved in newest]
        await services.messenger.tell(invocation.recipient, words.not_made_here(name, own))
    except RubricInUseError:
        await services.messenger.tell(invocation.recipient, words.not_deleted_in_use(name))
    else:
        await services.messenger.replace(invocation.recipient, words.deleted(name))
