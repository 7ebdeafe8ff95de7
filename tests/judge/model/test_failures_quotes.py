"""The part of a server's error that a message quotes: enough to act on, and nothing of a key or a
judged text.
"""

from typing import Any

from judge import load_rubric, render_prompt
from judge.scoring.model.failures import quote, to_judge_error
from tests.judge_client import status_error
from tests.model_server import Failure
from tests.server_profiles import KEY, MISTRAL, OPENAI, TGI, VLLM
from tests.tables import each

QUESTION = "Which clinic treats my daughter Ida Lindqvist, born 3 May 2019, for epilepsy?"
RESPONSE = "Ida Lindqvist is seen by Dr. Öberg at the Karolinska, every second Tuesday."
PROMPT = render_prompt(load_rubric("additive-5"), QUESTION, RESPONSE)


def quoted(said: Any, prompt: str = PROMPT, **headers: str) -> str:
    return quote(status_error(400, {"error": {"message": said}}, headers), prompt)


@each(
    ("reply", "expected"),
    [
        (OPENAI.too_long, "\"This model's maximum context length is 128000 tokens. However, your"),
        (VLLM.wrong_key, '(HTTP 401: "Unauthorized")'),
        (MISTRAL.rate_limited, '"Requests rate limit exceeded"'),
        (MISTRAL.rejections["n"], '(HTTP 422: "Extra inputs are not permitted")'),
        (TGI.limit_too_high, '"Input validation error: `inputs` tokens'),
    ],
)
def test_each_servers_sentence_is_found(reply: Failure, expected: str) -> None:
    raised = status_error(reply.status, reply.body)
    assert expected in str(to_judge_error(raised, "some-model", "http://judge.test/v1", PROMPT))


@each(
    "key",
    [
        *(KEY, "sk-ve******cret", "very-s", "sk-proj-someone-elses", "ab12...9z"),
        *("9f86d081884c7d659a2feaa0c55ad015", f"({KEY.upper()})"),
    ],
)
def test_key_is_left_out_even_if_masked_or_in_part(key: str) -> None:
    said = quoted(f"Incorrect key\n\t{key} given", authorization=f"Bearer {KEY}")
    assert said == "Incorrect key … given"


def test_key_in_any_authorization_header_is_left_out() -> None:
    assert quoted("Not hunter22 again", **{"api-key": "hunter22"}) == "Not … again"
    assert quoted("Not hunter22 again", **{"x-team": "hunter22"}) == "Not hunter22 again"


@each(
    "echo",
    [
        *(QUESTION, RESPONSE, PROMPT, QUESTION.upper(), QUESTION.replace(" ", "\\n")),
        *("Dr. Öberg at the Karolinska", "born 3 May", repr(PROMPT)),
    ],
)
def test_sentence_with_a_judged_text_is_not_quoted(echo: str) -> None:
    assert quoted(f"Cannot parse the value {echo} here") == ""


@each(("question", "response"), [("Why?", "Hunter2"), ("Name it.", "Ida Lindqvist")])
def test_sentence_with_a_text_of_one_or_two_words_is_not_quoted(
    question: str, response: str
) -> None:
    prompt = render_prompt(load_rubric("additive-5"), question, response)
    assert quoted(f"Cannot parse '{response}' here", prompt) == ""
    assert quoted("Cannot parse it here", prompt) == "Cannot parse it here"


@each(
    ("said", "expected"),
    [
        ('He said "no".\nTwice.', "He said 'no'. Twice."),
        ("No\x1b]0;title\x07 \u202eway", "No]0;title way"),
        ("word " * 100, f"{'word ' * 39}word…"),
        ("", ""),
        ("…", ""),
        ("<html>Bad Gateway</html>", ""),
    ],
)
def test_quote_is_short_and_on_one_line(said: str, expected: str) -> None:
    assert quoted(said) == expected


@each("body", [None, 7, {"error": {"input": "secret"}}, {"error": [[[]]]}])
def test_error_without_a_message_is_not_quoted(body: Any) -> None:
    assert quote(status_error(400, body), PROMPT) == ""
