"""The first hour: who invites the app into a channel is told what it can do there."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.domain.watch import Watch
from bot.features.watch import assistants, ids, orders
from bot.features.watch.notices import tell_once
from bot.features.watch.text import names_words, not_read
from bot.features.watch.watcher import Watcher
from bot.features.watch.window_text import price_a_day
from bot.slack import blocks as ui
from bot.slack.client import RefusedCallError, or_refusal, slack_word
from bot.slack.invocation import Invocation
from bot.slack.messenger import Post, to_post
from bot.slack.mrkdwn import clip

ONLY_WHEN_ASKED = (
    "Without a watch, I score a reply only when somebody asks: *Score this reply* in the menu (⋮) of a message, "
    "or `/judge` with its link. `/judge watch` and `/judge digest on` in the channel are there "
    "whenever you want them."
)


async def welcome(watcher: Watcher, body: Mapping[str, Any]) -> None:
    """Tells the person who invited the app into a channel what it can do there, once.

    Source: https://docs.slack.dev/reference/events/member_joined_channel
    """
    services = watcher.services
    team_id = body["team_id"]
    channel_id = body["event"]["channel"]
    inviter = body["event"].get("inviter")
    if body["event"]["user"] != services.identity.user_id or not inviter:
        return
    if not (body.get("is_ext_shared_channel") and await services.members.is_foreign(inviter)):
        person = Invocation(team_id, channel_id, inviter, inviter, is_foreign=False)
        post = await _welcome(watcher, person)
        told = Watch(team_id, channel_id, "", services.clock(), alerts_to=(inviter,))
        # Claimed right before the post: if the process has died before, Slack sends the event
        # again.
        await tell_once(services, told, "invited", post)


async def _welcome(watcher: Watcher, person: Invocation) -> Post:
    services = watcher.services
    channel_id = person.channel_id
    refusal = await orders.refusal_of(services, person, channel_id)
    try:
        names, a_day = await or_refusal(assistants.assistants(services, channel_id))
    except RefusedCallError as exc:
        refusal = refusal or not_read(slack_word(exc))
    if refusal:
        said = f"You invited me to <#{channel_id}>. {refusal}"
        return to_post(said, ui.context(ONLY_WHEN_ASKED))
    small = await _small_print(watcher, person, names, a_day)
    seen = names_words([*names.values()]) or "none yet"
    watch = ui.button("Watch it", ids.ACTION_WATCH, f"{channel_id}:") | {"style": "primary"}
    said = f"*I am in <#{channel_id}> now.* Assistants there: {seen}."
    return to_post(said, ui.actions(watch), *map(ui.context, small))


async def _small_print(
    watcher: Watcher,
    person: Invocation,
    names: Mapping[str, str],
    a_day: Mapping[str, float],
) -> Sequence[str]:
    """What a watch costs of the assistant with most replies, and where its texts go."""
    services = watcher.services
    way = await watcher.ways.find(person.team_id, person.channel_id)
    in_force = services.settings.in_force()
    small = [
        f"`{clip(way.model)}` judges. Question, reply and what was said before go, without names, to "
        f"{in_force['sent to']}. Texts are {in_force['texts']}, scores {in_force['scores']}.",
        ONLY_WHEN_ASKED,
    ]
    for author_id in [*names][:1]:
        usual = orders.new_watch(services, person, person.channel_id, author_id)
        price = price_a_day(usual, a_day.get(author_id, 0), way)
        small.insert(0, f"A watch on {clip(names[author_id])}: {price[0].lower()}{price[1:]}")
    return small


def register(app: AsyncApp, watcher: Watcher) -> None:
    async def tell(body: dict[str, Any], next_: Callable[[], Awaitable[None]]) -> None:
        await welcome(watcher, body)  # before Bolt acknowledges the event
        await next_()

    @app.event("member_joined_channel", middleware=[tell])
    async def join() -> None:
        return
