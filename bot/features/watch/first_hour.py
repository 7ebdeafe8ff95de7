"""The first hour: who invites the app into a channel is told what it can do there, with three buttons."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError

from bot.domain.numbers import number_of
from bot.domain.watch import Watch
from bot.feature import Services
from bot.features.watch import ids, orders
from bot.features.watch.first_figures import tell_post
from bot.features.watch.text import not_read
from bot.features.watch.window_text import price_a_day
from bot.slack import blocks as ui
from bot.slack.client import is_transient, slack_word
from bot.slack.invocation import Invocation, clicked_value, on_click, to_invocation
from bot.slack.messenger import Post
from bot.slack.mrkdwn import clip
from bot.store.figures import Place

_NAME, _MOST = 80, 5
ONLY_WHEN_ASKED = (
    "I score a reply only when somebody asks: *Score this reply* in the menu (⋮) of a message, or `/judge` with its "
    "link. `/judge watch` and `/judge digest on` in the channel are there whenever you want them."
)


async def welcome(services: Services, body: Mapping[str, Any]) -> None:
    """Tells the person who invited the app into a channel what it can do there, once, unless the channel is watched.

    Source: https://docs.slack.dev/reference/events/member_joined_channel
    """
    team_id, channel_id, inviter = body["team_id"], body["event"]["channel"], body["event"].get("inviter")
    is_us = body["event"]["user"] == services.identity.user_id
    if not (is_us and inviter) or await services.store.watches.of(team_id, channel_id):
        return
    try:
        is_foreign = body.get("is_ext_shared_channel") and await services.members.home_of(inviter) != team_id
    except SlackApiError as exc:
        if is_transient(exc):
            raise
        is_foreign = True  # Slack does not know them here
    if not is_foreign:
        post = await _welcome(services, Invocation(team_id, channel_id, inviter, inviter, "", None, is_foreign=False))
        told = Watch(team_id, channel_id, "", services.clock(), alerts_to=(inviter,))
        # Claimed right before the post: if the process has died before, Slack sends the event again.
        await tell_post(services, told, "invited", post)


async def _welcome(services: Services, person: Invocation) -> Post:
    channel_id, invited = person.channel_id, f"You invited me to <#{person.channel_id}>."
    refusal = await orders.refusal_of(services, person, channel_id, is_change=True)
    try:
        names, a_day = ({}, {}) if refusal else await orders.assistants(services, channel_id)
    except SlackApiError as exc:
        if is_transient(exc):
            raise
        refusal = not_read(slack_word(exc))
    if refusal:
        return Post(f"{invited} {refusal}", [ui.section(f"{invited} {refusal}"), ui.context(ONLY_WHEN_ASKED)])
    seen = sorted(((a_day.get(each, 0), clip(name, _NAME)) for each, name in names.items()), reverse=True)
    listed = ", ".join(f"*{name}*" for _, name in seen[:_MOST])
    listed += f" and {len(seen) - _MOST} more" if len(seen) > _MOST else ""
    sees = f"{number_of(len(seen), 'assistant')} there: {listed}" if seen else "no assistant there yet"
    said = f"*I am in <#{channel_id}> now* and see {sees}.\nWhat shall I do there?"
    buttons = [
        ui.button("Watch it", ids.ACTION_WATCH, f"{channel_id}:") | {"style": "primary"},
        ui.button("Weekly summary", ids.ACTION_WEEKLY, channel_id),
        ui.button("Only when asked", ids.ACTION_ONLY_ASKED, channel_id),
    ]
    usual = await orders.order_on(services, person, channel_id, "")
    (model, usd), in_force = await orders.price_of(services, person.team_id, channel_id), services.settings.in_force()
    prices = [price_a_day(usual, number, usd) for number, _ in seen[:1]]
    small = [
        f"`{clip(model, _NAME)}` judges. Question, reply and what was said before go, without names, to "
        f"{in_force['sent to']}. Texts are {in_force['texts']}, scores {in_force['scores']}.",
        *(f"A watch on {seen[0][1]}: {price[0].lower()}{price[1:]}" for price in prices),
    ]
    return Post(said.replace("*", ""), [ui.section(said), ui.actions(*buttons), *map(ui.context, small)])


def register(app: AsyncApp, services: Services) -> None:
    async def tell(body: dict[str, Any], next_: Callable[[], Awaitable[None]]) -> None:
        await welcome(services, body)  # before Bolt acknowledges the event
        await next_()

    @app.event("member_joined_channel", middleware=[tell])
    async def join() -> None:
        return

    @on_click(app, ids.ACTION_WEEKLY, ids.ACTION_ONLY_ASKED)
    async def choose(body: dict[str, Any]) -> None:
        invocation, channel_id, said = to_invocation(body), clicked_value(body), ONLY_WHEN_ASKED
        is_weekly = body["actions"][0]["action_id"] == ids.ACTION_WEEKLY
        refusal = await services.access.refusal(invocation, "digests", channel_id, is_change=is_weekly)
        if not is_weekly:
            said += "" if refusal else await _still_on(services, invocation.team_id, channel_id)
        else:
            place = Place(invocation.team_id, channel_id)
            said = f"<#{channel_id}>: {refusal or await services.post_weekly(place, invocation.user_id)}"
        await services.messenger.tell(invocation.recipient, said)


async def _still_on(services: Services, team_id: str, channel_id: str) -> str:
    """What scores or posts there by itself, and how to end it; empty if nothing does."""
    names = await orders.watched_names(services, team_id, channel_id)
    parts = [f"the watch of {clip(name, _NAME)} (`/judge watch` there ends it)" for name in names.values()]
    if (await services.store.channels.of(team_id, channel_id)).is_digest_on:
        parts.append("the weekly summary (`/judge digest off`)")
    return f"\nStill on in <#{channel_id}>: {', '.join(parts)}." if parts else ""
