"""What `/judge` says of itself."""

from bot.slack.mrkdwn import excerpt

_NO_TICKS = {ord("`"): "'"}
_EXCERPT = 300
_HELP = """• `/judge` opens a window for a question and a response
• `/judge LINK` scores the message that the link points to, in its thread
• `/judge question | response` scores the two texts here
• `/judge recent` lists what you asked for
• `/judge stats` shows this channel's week so far, `/judge stats @name` one assistant's, `#channel` another channel's
• `/judge digest` sums up this channel's weeks: `/judge digest help`
• `/judge forget LINK` deletes a score, with its texts and what I wrote about it
• `/judge forget me` takes all words of your own out of my log
• `/judge help` shows this
• On any message: More actions (⋮) → *Score this reply*"""


def help_text(unknown: str = "") -> str:
    """What `/judge` can do; `unknown` is what was not understood."""
    hint = "For two texts I need a `|` between them. " if len(unknown.split()) > 1 else ""
    begin = f"I do not know `{excerpt(unknown.translate(_NO_TICKS), _EXCERPT)}`. {hint}" if unknown else ""
    return f"{begin}This is what I understand:\n{_HELP}"
