"""Thumbs that people put under replies: said after all figures, and as what they are."""

from collections.abc import Mapping, Sequence

from bot.slack.authors import Member
from bot.slack.mrkdwn import clip
from bot.slack.post import Post
from bot.store.figures import ThumbCount
from bot.views.elements import context

_NAME = 80
_MOST = 10


def with_thumbs(post: Post, thumbs: Sequence[ThumbCount], members: Mapping[str, Member] | None) -> Post:
    """The figures with a line for each author, most thumbs first; `members` are those to be named.

    Without members they are of one author, whom the title names.
    """
    if members is None:
        lines = [_line("Thumbs", each) for each in thumbs]
    else:
        shown = [each for each in thumbs if each.author_id in members][:_MOST]
        lines = [_line(f"*{clip(members[each.author_id].name, _NAME)}*, thumbs", each) for each in shown]
    if not lines:
        return post
    said = context("\n".join(lines))
    plain = None if post.plain_blocks is None else [*post.plain_blocks, said]
    return Post(post.text, [*post.blocks, said], plain)


def _line(whose: str, each: ThumbCount) -> str:
    replies = "reply" if each.replies == 1 else "replies"
    return f"{whose}, which are no labels: {each.up:,} up, {each.down:,} down on {each.replies:,} {replies}"
