"""What the app says of itself: all that `/judge` can do, and one line for whoever speaks to it."""

from bot.slack import ids
from bot.slack.mrkdwn import excerpt
from bot.slack.post import Post
from bot.views.elements import actions, button, section

_NO_TICKS = {ord("`"): "'"}
_EXCERPT = 80
_HELP = """• `/judge` opens a window for a question and a response
• `/judge LINK` scores the message that the link points to, in its thread
• `/judge question | response` scores the two texts here
• `@Slack Judge score this` in a thread scores the message above
• `/judge recent` lists what you asked for
• `/judge stats` shows this channel's week so far, `/judge stats @name` one assistant's, `#channel` another channel's
• `/judge label` shows replies to score before you see the judge's score
• `/judge watch @assistant 1 in 5` scores a share of an assistant's replies by itself
• `/judge reaction :mag:` has replies scored under which somebody puts that emoji
• `/judge rubric` says what replies here are scored by; `/judge rubric use NAME` and `/judge rubric edit` change that
• `/judge digest` sums up this channel's weeks: `/judge digest help`
• `/judge forget LINK` or `/judge forget NUMBER` deletes a case, with its texts and what I wrote about it
• `/judge forget me` takes all words of your own out of my log
• On any message: More actions (⋮) → *Score this reply*"""
_DIRECT_HELP = """• `/judge` opens a window for a question and a response
• `/judge question | response` scores the two texts; only you see the verdict
• `/judge LINK` scores a message of a channel that we are both in, in its thread
• `/judge recent` lists what you asked for
• `/judge stats #channel` shows a channel's week so far
• `/judge label` shows replies of your channels to score before you see the judge's score
• `/judge forget LINK` or `/judge forget NUMBER` deletes a case
• `/judge forget me` takes all words of your own out of my log
• `/judge help` in a channel lists what works there"""

NOTHING_ABOVE = (
    "I find no reply above your message. Write that in the thread of the reply, "
    "or choose More actions (⋮) → *Score this reply* on it."
)
_SAY = "Write *score this* with my name below a reply, in its thread, and I score it."
_SAY_DIRECTLY = "Here I score two texts that you give me. A reply in a channel: More actions (⋮) → *Score this reply*."
_SAY_COMMAND = "Type that with `/judge` before it (`/judge question | response`, `/judge LINK`), and I score it."


def help_text(*, is_direct: bool = False) -> str:
    """What `/judge` can do, in a channel or in direct messages."""
    here, known = (" in direct messages", _DIRECT_HELP) if is_direct else ("", _HELP)
    return f"This is what I understand{here}:\n{known}"


def not_understood(text: str) -> str:
    """What a person is told who typed something else after `/judge`."""
    typed = excerpt(text.translate(_NO_TICKS), _EXCERPT)
    return f"I do not know `{typed}`. `/judge question | response` scores two texts, `/judge help` lists the rest."


def help_line(*, is_direct: bool, lacks_command: bool = False) -> Post:
    """The answer to whoever speaks to the app and asks for nothing that it knows; buttons do the rest."""
    line = _SAY_COMMAND if lacks_command else _SAY_DIRECTLY if is_direct else _SAY
    row = actions(
        button("Score two texts", ids.ACTION_OPEN_WINDOW),
        button("Your cases", ids.ACTION_RECENT_NEWEST),
        button("All commands", ids.ACTION_HELP),
    )
    return Post(line, [section(line), row])
