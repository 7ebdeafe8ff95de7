"""The window in which a watch is set: opened at once, filled when Slack has said what there is, checked when sent."""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import aiohttp
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.errors import SlackApiError

from bot.domain.case import Recipient
from bot.domain.watch import Watch
from bot.features.watch import text as words
from bot.features.watch import window_text as window_words
from bot.features.watch.backfill import RecentReplies
from bot.features.watch.form import WatchChecks, WatchForm, to_watch_form
from bot.features.watch.orders import WatchOrders
from bot.features.watch.watcher import Assistants, is_named
from bot.features.watch.window_text import WatchView
from bot.pipeline.judges import RubricChoice
from bot.pipeline.lookup import MayNotReadError, OutOfSightError
from bot.pipeline.text import BUTTON_TOO_SLOW, sentence
from bot.slack import ids
from bot.slack.blocks import ModalState
from bot.slack.client import slack_word
from bot.slack.invocation import (
    HomeVisit,
    Invocation,
    WindowClick,
    clicked_home,
    clicked_value,
    clicked_watch,
    clicked_window,
    to_invocation,
)
from bot.slack.messages import Message
from bot.slack.messenger import Messenger

_ITS_SHARE = re.compile(f"^{ids.BLOCK_SHARE}-")


@dataclass(frozen=True)
class WatchWindow:
    """Asks for all that a watch is, and shows what it would have taken."""

    orders: WatchOrders
    assistants: Assistants
    recent: RecentReplies
    checks: WatchChecks
    rubrics: RubricChoice
    messenger: Messenger
    show_home: Callable[[HomeVisit, str], Awaitable[None]]
    workspace_url: str

    async def open(self, invocation: Invocation, state: ModalState, author: str = "") -> bool:
        """Whether the window could be opened; with an assistant, by name or id, it begins with that one."""
        opened = await self.messenger.open_modal(invocation.trigger_id, window_words.reading_modal())
        if opened:
            await self.show(WindowClick(invocation, opened.id, state), author)
        return opened is not None

    async def open_at_home(self, visit: HomeVisit, channel_id: str, author_id: str) -> None:
        state = ModalState(channel_id=channel_id, home_id=visit.channel_id)
        if not await self.open(visit.invocation, state, author_id):
            await self.show_home(visit, BUTTON_TOO_SLOW)

    async def show(self, click: WindowClick, author: str, chosen: WatchForm | None = None) -> None:
        """Fills the window: first with what there is to choose, then with what would have been taken.

        Where only another share was `chosen`, the other fields stay as the person has them.
        """
        form = await self._form(click.invocation, click.state.channel_id or "", author)
        if isinstance(form, str):
            await self.messenger.update_modal(click.view_id, window_words.said_modal(form))
            return
        if chosen:
            form = replace(form, watch=replace(form.watch, share=chosen.share), version=chosen.version)
        shown = await self.messenger.update_modal(click.view_id, self._view(click, form, None))
        if shown:  # and nobody has chosen another assistant meanwhile
            view = self._view(click, form, await self._replies(form.watch))
            await self.messenger.update_modal(click.view_id, view, shown.version)

    async def submitted(self, invocation: Invocation, form: WatchForm) -> dict[str, Any]:
        """What to answer a submitted window; where nothing is wrong, the watch is set."""
        refusal, kept_out = await asyncio.gather(
            self.orders.refusal(invocation, form.channel_id, is_change=True), self.checks.kept_out(form)
        )
        if refusal:
            return {"response_action": "update", "view": window_words.said_modal(refusal)}
        earlier = await self.orders.on(invocation, form.channel_id, form.author_id)
        is_watched = earlier in await self.orders.of(invocation.team_id, form.channel_id)
        rubric = await self.rubrics.of(invocation.team_id, form.channel_id)
        errors = {**await self.checks.errors(form, rubric.scale, is_watched=is_watched), **kept_out}
        set_tokens = await self.orders.tokens(invocation.team_id, form.channel_id)
        if form.version != _version(earlier if is_watched else None, set_tokens):
            errors.setdefault(ids.BLOCK_ASSISTANT, window_words.CHANGED_MEANWHILE)
        if errors:
            return {"response_action": "errors", "errors": errors}
        watch = replace(
            earlier,
            share=form.share,
            per_day=int(form.per_day or 0),
            shows=form.shows,
            alerts_to=form.alerts_to,
            floor=form.floor,
        )
        if refusal := await self.orders.save(watch, invocation.user_id):
            its_shows = ids.of_author(ids.BLOCK_SHOWS, form.author_id)
            return {"response_action": "errors", "errors": {its_shows: refusal.replace("`", "")}}
        tokens = int(form.tokens) if form.tokens else None
        await self.orders.save_tokens(watch.team_id, watch.channel_id, tokens, invocation.user_id)
        return {}

    async def end(self, click: WindowClick, author_id: str) -> None:
        channel_id = click.state.channel_id or ""
        said = await self.orders.end(click.invocation, channel_id, author_id)
        shown = None
        with suppress(SlackApiError, aiohttp.ClientError, TimeoutError):
            shown = await self.messenger.update_modal(click.view_id, window_words.said_modal(said))
        if not shown:
            await self.messenger.tell(Recipient(click.invocation.user_id, channel_id), sentence(said))
        await self._renew_home(click)

    async def say(self, click: WindowClick, form: WatchForm) -> None:
        """Says in the channel, to the person alone, what was set; the Home tab, where they come from, shows it."""
        if await self._renew_home(click):
            return
        watch = await self.orders.on(click.invocation, form.channel_id, form.author_id)
        name = (await self.orders.members.of(form.author_id)).name
        await self.messenger.tell(Recipient(click.invocation.user_id, form.channel_id), words.begun(watch, name))

    async def _renew_home(self, click: WindowClick) -> bool:
        if click.state.home_id is None:
            return False
        await self.show_home(HomeVisit(click.invocation, click.state.home_id), "")
        return True

    def _view(self, click: WindowClick, form: WatchView, replies: Sequence[Message] | str | None) -> dict[str, Any]:
        return window_words.watch_modal(click.state, form, replies, self.workspace_url)

    async def _form(self, invocation: Invocation, channel_id: str, author: str) -> WatchView | str:
        if refusal := await self.orders.refusal(invocation, channel_id, is_change=True):
            return refusal
        watches = await self.orders.of(invocation.team_id, channel_id)
        try:
            found = await (self.assistants.called(channel_id, author) if author else self.assistants.listed(channel_id))
        except (SlackApiError, aiohttp.ClientError, TimeoutError) as exc:
            return words.not_read(slack_word(exc))
        names = {**await self.orders.names(watches), **found}
        # Who names nobody wants another one.
        called = (
            [each for each in names if is_named(author, each, names)] if author else [*_others(found, watches), *names]
        )
        author_id = next(iter(called), None)
        if author_id is None:
            return words.no_assistant(author, list(names.values())) if author else words.NO_BOTS
        watch = await self.orders.on(invocation, channel_id, author_id)
        tokens = await self.orders.tokens(invocation.team_id, channel_id)
        rubric = await self.rubrics.of(invocation.team_id, channel_id)
        is_set = watch in watches
        version = _version(watch if is_set else None, tokens)
        return WatchView(watch, is_set, names, rubric.name, rubric.scale, tokens, version)

    async def _replies(self, watch: Watch) -> Sequence[Message] | str:
        try:
            return await self.recent.of(watch)
        except (OutOfSightError, MayNotReadError):
            return words.not_read("missing_scope")
        except (SlackApiError, aiohttp.ClientError) as exc:
            return words.not_read(slack_word(exc))


def _version(watch: Watch | None, tokens: int | None) -> str:
    """Tells two settings of a watch apart; None is an assistant that is not watched."""
    return hashlib.sha256(repr((watch, tokens)).encode()).hexdigest()[:8]


def _others(found: Iterable[str], watches: Sequence[Watch]) -> list[str]:
    watched = {watch.author_id for watch in watches}
    return [author_id for author_id in found if author_id not in watched]


def register(app: AsyncApp, window: WatchWindow) -> None:
    @app.action(ids.ACTION_WATCH)
    async def open_window(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        invocation = to_invocation(body)
        if not await window.open(invocation, ModalState(channel_id=invocation.channel_id), clicked_value(body)):
            await window.messenger.tell(invocation.recipient, sentence(BUTTON_TOO_SLOW))

    @app.action(ids.ACTION_HOME_WATCH)
    async def open_at_home(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await window.open_at_home(clicked_home(body), *clicked_watch(body))

    @app.action(ids.BLOCK_ASSISTANT)
    async def choose_assistant(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await window.show(clicked_window(body), to_watch_form(body).author_id)

    @app.action(_ITS_SHARE)
    async def choose_share(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        form = to_watch_form(body)
        await window.show(clicked_window(body), form.author_id, form)

    @app.action(ids.ACTION_WATCH_END)
    async def end_watch(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await window.end(clicked_window(body), clicked_value(body))

    @app.view(ids.VIEW_WATCH)
    async def set_watch(ack: AsyncAck, body: dict[str, Any]) -> None:
        click, form = clicked_window(body), to_watch_form(body)
        answer = await window.submitted(click.invocation, form)
        await ack(**answer)
        if not answer:
            await window.say(click, form)
