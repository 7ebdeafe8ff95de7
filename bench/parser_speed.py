"""How long `parse_rating` takes for a common answer, and for 100 kB of text made to be slow.

`python bench/parser_speed.py` prints the best of several runs. A busy machine takes two or three
times as long; quadratic time would be a hundred times that.
"""

from functools import partial
from timeit import repeat

from judge import parse_rating

COMMON_AIM_US = 30
HOSTILE_AIM_MS = 75
HOSTILE_CHARS = 100_000

COMMON = "score: 4\n" + (
    "The response gives a clear and helpful overview of the topic, covers most of the steps that "
    "the user asked about, and is well organised, but it repeats the second point and could be "
    "more concise in its closing paragraph, where it lists three further sources without saying "
    "what they add to the answer or why they matter here at all."
)
HOSTILE = (
    *(
        "score:",
        "score: 5 ",
        "score:\n",
        "score (",
        "score for the ",
        "total of the ",
        "final total overall ",
    ),
    *(
        "I rate it a 4. ",
        "gets 4 of 5 steps ",
        "give ",
        "not a 5, ",
        "1 ",
        "1+",
        "4/5 ",
        "Score: 4/",
        "one ",
        "7",
    ),
    *(
        "```py\n",
        "- score: 1 x\n",
        "[[rating]]: ",
        "the the the ",
        "a a a a a 1 ",
        "score of the response of the ",
        '"score": ',
    ),
    *(
        "[",
        "[[1]] ",
        "{",
        '{"score": ',
        "\\boxed{4} ",
        "(",
        "<",
        "</",
        "<b>",
        "<b ",
        "\n",
        "a\n",
        " ",
        "\t",
        '"',
        "“",
    ),
    *(
        "<think>",
        "</think>",
        "<question>",
        "<response>",
        "```\n",
        "~~",
        "*",
        "# ",
        "Actually, it is ",
        "점수는 8 ",
    ),
    *(
        "> score: 5\n",
        "> score: 5\n\n\n",
        "> ",
        "so it is a 3. ",
        "minus 3 ",
        "this line is ",
        "the response: score: 5\n",
        "style\nscore: 4\n",
    ),
    *("4점으로 평가", "字", "é", "４", "⭐", "\u200b", "a", "word "),
)


def main() -> None:
    print(
        f"{'a common answer':<40}{best_s(COMMON, runs=200) * 1e6:>8.1f} us, aim: under "
        f"{COMMON_AIM_US}"
    )
    took_ms = {}
    for unit in HOSTILE:
        filler = (unit * HOSTILE_CHARS)[:HOSTILE_CHARS]
        for text in (filler, f"score: 4\n{filler}", f"{filler}\nscore: 4"):
            took_ms[f"{text[:12]!r} ... {text[-12:]!r}"] = best_s(text) * 1e3
    print(
        f"{f'slowest of {len(took_ms)} hostile texts':<40}{max(took_ms.values()):>8.1f} "
        f"ms, aim: under {HOSTILE_AIM_MS}"
    )
    for text in sorted(took_ms, key=took_ms.__getitem__)[-3:]:
        print(f"  {text:<38}{took_ms[text]:>8.1f} ms")


def best_s(text: str, runs: int = 1) -> float:
    """Seconds to read `text`: the shortest of five times, each the mean of `runs`."""
    return min(repeat(partial(parse_rating, text), number=runs, repeat=5)) / runs


if __name__ == "__main__":
    main()
