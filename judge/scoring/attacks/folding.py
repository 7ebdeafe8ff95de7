"""Folding: reduces the many spellings of a text to a single one, so that disguised words are found."""

import html
import re
import unicodedata
from html.entities import html5
from typing import NamedTuple

# Characters that look like a Latin letter or a bracket and that NFKD leaves: Cyrillic, Greek,
# Armenian, small capitals. These are not all of Unicode's confusables, which would turn much honest
# text into other words.
_LOOK_ALIKES = {
    "a": "аαАΑᴀ", "b": "ВΒʙ", "c": "сСᴄ", "d": "ԁᴅ", "e": "еεЕΕᴇ", "f": "ғꜰ", "g": "ɢ", "h": "һНΗʜ", "i": "іιІΙıɪ",
    "j": "јЈᴊ", "k": "кκКΚᴋ", "l": "ʟ", "m": "мМΜᴍ", "n": "пηոΝɴ", "o": "оοօОΟՕᴏ", "p": "рρРΡᴘ", "q": "ԛԚǫ",
    "r": "гʀ", "s": "ѕЅꜱ", "t": "тτТΤᴛ", "u": "иυսՍᴜ", "v": "νᴠ", "w": "ԝԜᴡ", "x": "хχХΧ", "y": "уγУΥʏ", "z": "ΖЗᴢ",
    "<": "‹〈⟨❮❰˂ᐸ", ">": "›〉⟩❯❱˃ᐳ", "/": "⁄∕⧸╱", "|": "∣│┃❘ǀ", "-": "‐‑‒–—―−•·・", "'": "‘’‚‛′", '"': "“”„‟″",
    "\n": "\v\f\x85\u2028\u2029",
}  # fmt: skip
_FROM_LOOK_ALIKE = {ord(like): plain for plain, likes in _LOOK_ALIKES.items() for like in likes}
for _code, _plain in list(
    _FROM_LOOK_ALIKE.items()
):  # the other case is mapped too, unless it is listed
    if (
        len(_other := chr(_code).swapcase()) == 1 and not _other.isascii()
    ):  # the other case of `ı` is the plain `I`
        _FROM_LOOK_ALIKE.setdefault(ord(_other), _plain)
_INVISIBLE_KINDS = frozenset(("Cc", "Cf", "Mn", "Mc", "Me"))
_BLANK = frozenset("\u115f\u1160\u2065\u2800\u3164" + "".join(map(chr, range(0xFFF0, 0xFFF9))))
_ESCAPE = re.compile(
    r"&(?:#(?P<decimal>[0-9]+);?|#[xX](?P<hex>[0-9a-fA-F]+);?|(?P<name>[^\s<&#;]{1,32};?))"
    r"|(?:%|\\x|\\u00)(?P<byte>[0-7][0-9a-fA-F])"
)
_ENTITY = re.compile(r"&(?:#|[a-zA-Z]{2,31};)")
_BEYOND_ASCII = re.compile(r"[^ -~\n]+")
_ESCAPE_STARTS = frozenset("&%\\")
_LONGEST_NAME = 34


class FoldedText(NamedTuple):
    """The folded and unescaped `text`, and for each of its characters the start and end in the
    original.
    """

    text: str
    starts: list[int]
    ends: list[int]

    def span(self, at: int) -> tuple[int, int]:
        """The range in the original, [start, end), that the character at `at` comes from."""
        return self.starts[at], self.ends[at]


class _Folds(dict[int, str]):
    def __missing__(self, code: int) -> str:
        folded = _fold_character(chr(code))
        if len(self) < 50_000:
            self[code] = folded
        return folded


FOLDS = _Folds()


def fold(text: str) -> str:
    """`text` in lower case, without accents, invisible characters, look-alikes and HTML entities;
    line ends stay.
    """
    if _ENTITY.search(text):
        text = fold_aligned(text).text
    elif text.isascii():
        text = text.translate(FOLDS)
    else:
        text = _BEYOND_ASCII.sub(lambda run: run[0].translate(FOLDS), text)
    return text.lower()


def fold_aligned(text: str) -> FoldedText:
    """`text` folded, and unescaped until no escape is left; letters keep their case.

    It works from the end to the start. An escape depends only on the text after it, which is
    resolved by then, so one pass resolves any nesting in linear time.
    """
    characters: list[str] = []  # all three lists run from the last character to the first
    starts: list[int] = []
    ends: list[int] = []
    for at in range(len(text) - 1, -1, -1):
        for character in reversed(FOLDS[ord(text[at])]):
            characters.append(character)
            starts.append(at)
            ends.append(at + 1)
            while (
                characters
                and characters[-1] in _ESCAPE_STARTS
                and _resolve(characters, starts, ends)
            ):
                pass
    return FoldedText("".join(reversed(characters)), starts[::-1], ends[::-1])


def _resolve(characters: list[str], starts: list[int], ends: list[int]) -> bool:
    """Whether the last characters are an escape; if so, replaces them with its value."""
    ahead = "".join(characters[: -_LONGEST_NAME - 1 : -1])
    escape = _ESCAPE.match(ahead)
    if escape and escape.end() == len(ahead) < len(
        characters
    ):  # a number of any length, with leading zeros
        low = at = len(characters) - len(ahead)
        while low and (characters[low - 1] in ";abcdefABCDEF" or characters[low - 1].isdigit()):
            low -= 1
        escape = _ESCAPE.match(ahead + "".join(reversed(characters[low:at])))
    if not escape:
        return False
    value, length = _decode(escape)
    if not length:
        return False
    start = starts[-1]
    end = ends[-length]
    del characters[-length:], starts[-length:], ends[-length:]
    for character in reversed("".join(FOLDS[ord(each)] for each in value)):
        characters.append(character)
        starts.append(start)
        ends.append(end)
    return True


def _decode(escape: re.Match[str]) -> tuple[str, int]:
    if escape["byte"]:
        return chr(int(escape["byte"], 16)), escape.end()
    if name := escape["name"]:
        length = next((n for n in range(len(name), 1, -1) if name[:n] in html5), 0)
        return (html5[name[:length]], 1 + length) if length else ("", 0)
    digits = (escape["decimal"] or escape["hex"]).lstrip("0")[:9] or "0"  # int() limits the digits
    return html.unescape(f"&#{'' if escape['decimal'] else 'x'}{digits};"), escape.end()


def _fold_character(character: str) -> str:
    if plain := _FROM_LOOK_ALIKE.get(ord(character)):
        return plain
    if character.isspace():
        return "\n" if character == "\n" else " "
    parts = unicodedata.normalize("NFKD", character)
    return "".join(part for part in parts if not is_invisible(part)).translate(_FROM_LOOK_ALIKE)


def is_invisible(character: str) -> bool:
    """Whether the character alone shows nothing: controls, joiners, combining marks, and ranges
    reserved for such.
    """
    if unicodedata.category(character) in _INVISIBLE_KINDS or character in _BLANK:
        return True
    return 0xE0000 <= ord(character) < 0xE1000
