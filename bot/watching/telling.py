"""Alerts on their way to those who hear of a watch, as far as they may look into its channel."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.watch import Watch
from bot.slack.errors import connection_word, slack_word
from bot.slack.memberships import MembershipError, Memberships
from bot.slack.post import WITHOUT_PREVIEWS, Post, send_in_known_blocks

KEPT_OUT = "not_in_channel"
"""In the place of Slack's word, for a person who may not look into the channel (any more)."""


@dataclass(frozen=True)
class AlertTeller:
    """Tells the channel and the people who hear of a watch.

    Attributes:
        client: The bot's Web API client.
        memberships: Who may look into which channel: an alert names its figures.
    """

    client: AsyncWebClient
    memberships: Memberships

    async def tell(self, watch: Watch, post: Post) -> Mapping[str, str]:
        """Sends the post to each of them; for those whom it did not reach, by id, why, in Slack's word."""
        reasons = {to: await self._send(watch, to, post) for to in watch.alerts_to}
        return {to: reason for to, reason in reasons.items() if reason}

    async def _send(self, watch: Watch, to: str, post: Post) -> str:
        try:
            if to != watch.channel_id and await self.memberships.keeps_out(to, watch.channel_id):
                return KEPT_OUT
            await send_in_known_blocks(post, partial(self._post, to))
        except MembershipError as exc:
            return str(exc)
        except SlackApiError as exc:
            return slack_word(exc)
        except (aiohttp.ClientError, TimeoutError) as exc:
            return connection_word(exc)
        return ""

    async def _post(self, to: str, post: Post) -> None:
        await self.client.chat_postMessage(channel=to, text=post.text, blocks=post.blocks, **WITHOUT_PREVIEWS)
