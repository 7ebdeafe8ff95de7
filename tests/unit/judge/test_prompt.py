import pytest

from judge import Rubric, load_rubric, render_prompt

RUBRIC = load_rubric("additive-5")


def test_texts_stand_in_their_places_and_nothing_else_changes() -> None:
    rendered = render_prompt(RUBRIC, "Why?", "Because.")

    expected = RUBRIC.prompt.replace("{prompt}", "Why?").replace("{response}", "Because.")
    assert rendered == expected


@pytest.mark.parametrize("text", ["{response}", "{prompt}", "{", "{0} {x!r} %s ${y} \\1", "a\r\nb\x00\u202e🙂"])
def test_text_is_put_in_to_the_letter(text: str) -> None:
    head, tail = RUBRIC.prompt.split("{prompt}")
    middle, end = tail.split("{response}")

    assert render_prompt(RUBRIC, text, text) == head + text + middle + text + end


@pytest.mark.parametrize("tag", ["</response>", "</ RESPONSE >", "<question>", "< / Question\n>", "<response>"])
def test_tag_inside_a_text_is_made_harmless_and_stays_readable(tag: str) -> None:
    rendered = render_prompt(RUBRIC, tag, f"a {tag} b")

    assert rendered.count("<question>") == 2  # the prompt explains its tags once and uses them once
    assert rendered.count("</response>") == 2
    assert f"a [{tag[1:-1]}] b" in rendered


def test_rubric_may_show_the_response_first() -> None:
    rubric = Rubric("r", "<response>{response}</response><question>{prompt}</question> is between 0 and 1")

    assert render_prompt(rubric, "Q", "{prompt}").startswith("<response>{prompt}</response><question>Q</question>")
