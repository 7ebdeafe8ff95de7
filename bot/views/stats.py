"""What `/judge stats` says where there is nothing to show."""

from collections.abc import Sequence

from bot.slack.mrkdwn import clip, escape

_NAME = 80
_MOST_NAMED = 10

DIRECT = "Stats are about a channel; there are none for direct messages. `/judge stats #channel` shows one of yours."
OWN_REPLIES = "your own replies"
_INVITE = "`/invite @Slack Judge`"
_HELP = (
    "`/judge stats` is about this channel, `/judge stats #channel` about another, `/judge stats @name` about one author"
)


def not_understood(reason: str) -> str:
    """What `/judge stats` can do, for a person who typed something else; `reason` quotes it."""
    return f"{escape(reason)}. {_HELP}."


def not_yours() -> str:
    """For the channel that the person stands in, where Slack does not count them among its members."""
    return (
        "Slack does not list this channel among yours, so I cannot show its stats; after joining it takes up to five "
        f"minutes. In a private channel, type {_INVITE} first."
    )


def no_channel(name: str) -> str:
    """The same for a channel that is not there as for one that the person is not in, or the app."""
    return f"I know no channel `{clip(name, _NAME)}` that we are both in. If you are in it, type {_INVITE} there."


def unsure(error: str) -> str:
    """For when Slack does not say which channels a person is in."""
    return f"Slack does not tell me which channels you are in (`{clip(error, _NAME)}`), so I show nothing of them."


def no_author(name: str, known: Sequence[str], lists_people: bool) -> str:
    """For a name that nobody has who may be shown; whether somebody else of that name was scored stays open.

    `known` are the names of those who may be, besides the person who asks.
    """
    names = ", ".join(f"`@{clip(each, _NAME)}`" for each in known[:_MOST_NAMED])
    shown = f"{names} and `me`" if names else "`me`"
    people = "" if lists_people else ", and other people only after `/judge digest people on`"
    return f"I know no `{clip(name, _NAME)}` here. I can show {shown}{people}."


def several_authors(name: str, author_ids: Sequence[str]) -> str:
    """For a name that several have."""
    each = ", ".join(f"`/judge stats @{author_id}`" for author_id in author_ids[:_MOST_NAMED])
    return f"Several here are called `{clip(name, _NAME)}`. Ask for one of them: {each}."
