"""Links to messages: as they stand in Slack's mrkdwn, and plain."""

from bot.slack.mrkdwn import escape


def permalink(workspace_url: str, channel_id: str, ts: str, thread_ts: str | None = None) -> str:
    """The address of a message as mrkdwn has it; with `thread_ts`, of a reply in that thread."""
    return escape(address(workspace_url, channel_id, ts, thread_ts))


def address(workspace_url: str, channel_id: str, ts: str, thread_ts: str | None = None) -> str:
    """The same, as it is copied and opened.

    Built and not asked for: https://docs.slack.dev/reference/methods/chat.getPermalink gives the same, one at a time.
    """
    link = f"{workspace_url}archives/{channel_id}/p{ts.replace('.', '')}"
    return link if thread_ts in {None, ts} else f"{link}?thread_ts={thread_ts}&cid={channel_id}"
