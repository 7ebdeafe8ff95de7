"""Messages of a few words that ask nothing."""

import re

_WORD = re.compile(r"[^\W\d_]+")
_EMOJI_OR_NAME = re.compile(r":[\w+-]+:|@[UW][A-Z0-9]{2,}")
_MOST_WORDS = 5
THANKS = frozenset(("thanks", "thank", "thx", "ty", "cheers", "danke", "dank", "merci", "gracias"))
_OTHERS = """
hi hello hey hallo moin good morning afternoon evening there all team everyone
you vielen much so very a lot again
great perfect super cool nice awesome ok okay yes no that worked
"""
_SMALL_TALK = THANKS | frozenset(_OTHERS.split())


def is_small_talk(words: str) -> bool:
    """Whether a message only greets, thanks or agrees."""
    found = words_of(words)
    return len(found) <= _MOST_WORDS and _SMALL_TALK.issuperset(found)


def words_of(words: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(_EMOJI_OR_NAME.sub("", words))]
