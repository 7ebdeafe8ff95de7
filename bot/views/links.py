"""Links to messages, as they stand in Slack's mrkdwn."""


def permalink(workspace_url: str, channel_id: str, ts: str, thread_ts: str | None = None) -> str:
    """The address of a message, escaped; with `thread_ts`, of a reply in that thread.

    Built and not asked for: https://docs.slack.dev/reference/methods/chat.getPermalink gives the same, one at a time.
    """
    link = f"{workspace_url}archives/{channel_id}/p{ts.replace('.', '')}"
    return link if thread_ts in {None, ts} else f"{link}?thread_ts={thread_ts}&amp;cid={channel_id}"
