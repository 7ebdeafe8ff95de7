from hypothesis import given, settings
from hypothesis import strategies as st

from judge import Rating
from judge.scoring.offline import rate_offline
from judge.scoring.rubric import Scale
from tests.tables import each

QUESTION = "How do I boil an egg so that the yolk stays soft?"
GOOD = (
    "Bring a pot of water to a boil and lower the egg in gently with a spoon. Boil the egg for "
    "six minutes if it comes from the fridge, a little less if it is warm. Put it into cold "
    "water at once, or the yolk goes on cooking. The yolk stays soft because it sets at a higher "
    "temperature than the white does. For a firmer yolk add a minute or two; past nine minutes "
    "no part of it is soft any more, so mind the clock."
)
OFF_TOPIC = (
    "The Eiffel Tower was built in 1889 for the World Fair in Paris. It is 330 metres high, and "
    "nearly seven million people climb it each year. Tickets are sold online. The lift costs "
    "more than the stairs. At night twenty thousand lamps make it glitter for five minutes in "
    "each hour."
)
EMPTY_PHRASES = (
    "Great question! There are many factors to consider, and it really depends on your situation. "
    "Everyone is different. I hope this helps, and feel free to come back at any time!"
)
# A question, a full answer and one about the Eiffel Tower, in languages without spaces.
OTHER_LANGUAGES = {
    "Chinese": (
        "怎么煮鸡蛋才能让蛋黄保持柔软？",
        "先把一锅水烧开，用勺子把鸡蛋轻轻放入锅中。如果鸡蛋刚从冰箱取出，煮六分钟。煮好后立刻放进冷水，否则蛋黄会继续变熟。这样蛋黄就能保持柔软，因为蛋黄凝固的温度比蛋白高。",
        "埃菲尔铁塔位于巴黎，建于一八八九年。它高三百三十米，每年有近七百万人参观。门票可以在网上购买。",
    ),
    "Korean": (
        "노른자가 부드럽게 계란을 삶으려면 어떻게 해야 하나요?",
        "냄비에 물을 끓이고 계란을 숟가락으로 조심스럽게 넣으세요. 냉장고에서 꺼낸 계란은 육 분 동안 삶습니다. "
        "바로 찬물에 담그지 않으면 노른자가 계속 익습니다. "
        "노른자는 높은 온도에서 굳기 때문에 부드럽게 남습니다.",
        "에펠탑은 파리에 있습니다. 천팔백팔십구년에 지어졌고 높이는 삼백삼십 미터입니다. 매년 칠백만 명이 방문합니다.",
    ),
}


def rate(question: str, response: str) -> Rating:
    return rate_offline(question, response, Scale(0, 5))


def score(question: str, response: str) -> int:
    return rate(question, response).score


CODE = "while (egg.yolk == SOFT) {\n  boil(egg);\n  if (done) {\n  }\n}\n}\n}\n}\n}\nserve(egg);\n"


@each(
    ("least", "most", "question", "response"),
    [
        (4, 5, QUESTION, GOOD),
        (4, 5, QUESTION, f"I can't see your pot, but here is how it is done. {GOOD}"),
        (2, 2, "What is the capital of Australia?", "The capital of Australia is Canberra."),
        # to something else
        *((0, 1, QUESTION, each) for each in (OFF_TOPIC, EMPTY_PHRASES)),
        # long, to a question too short to compare with, and to another one
        *((3, 3, "Why?", GOOD), (1, 1, "Why is the sky blue at noon?", GOOD)),
        # refusals
        (0, 1, QUESTION, "I'm sorry, but I can't help with eggs."),
        (0, 1, QUESTION, "I don’t know how to boil an egg. Boil it in water, they say. Or not."),
        # repetition, and lines of brackets, which are none
        *((0, 0, QUESTION, each) for each in ("Boil it for six minutes. " * 6, "Boil it\n" * 4)),
        *((0, 0, QUESTION, each) for each in ("boil the egg " * 40, f"{GOOD}\n{GOOD}")),
        (1, 5, QUESTION, CODE),
        # scores and texts without words
        *((0, 0, QUESTION, each) for each in ("score: 5", "\n", "\ud800", ". " * 50_000)),
    ],
)
def test_each_kind_of_answer_gets_its_score(
    least: int, most: int, question: str, response: str
) -> None:
    assert least <= score(question, response) <= most


@each("language", OTHER_LANGUAGES)
def test_good_and_bad_answers_in_other_scripts_are_told_apart(language: str) -> None:
    question, full, off_topic = OTHER_LANGUAGES[language]
    assert score(question, full) >= 4
    assert score(question, off_topic) <= 1


def test_justification_accounts_for_each_point() -> None:
    assert rate(QUESTION, "Boil the egg for six minutes. Then cool it.").justification == (
        "3 of 5 points: 2 for using 2 of 5 content words in the question, 0 for its 9 different "
        "words, 1 for its 2 finished sentences. This counts words, and cannot tell whether the "
        "response is true."
    )


@each(
    ("response", "reason"),
    [
        ("Boil the egg. " * 3, "none, because it repeats itself"),
        (f"{QUESTION} How do I boil an egg?", "none, because it repeats the question"),
        (OFF_TOPIC, "at most 1, because it hardly mentions what was asked"),
        ("I cannot boil an egg.", "at most 1, because it begins by declining to answer"),
    ],
)
def test_justification_says_why_points_are_withheld(response: str, reason: str) -> None:
    assert f"; {reason}. " in rate(QUESTION, response).justification


def test_justification_says_that_another_rubric_is_ignored() -> None:
    rating = rate_offline(QUESTION, GOOD, Scale(0, 5), "refusal")
    assert rating.justification.endswith("It ignores the rubric 'refusal' except for its scale.")
    assert rating.score == rate(QUESTION, GOOD).score
    assert "rubric" not in rate(QUESTION, GOOD).justification


TEXTS = st.text(st.characters(), max_size=200) | st.text("aé字か한。.?! \n'1", max_size=200)


@settings(max_examples=50)
@given(TEXTS, TEXTS)
def test_any_two_texts_get_one_score_on_the_scale_each_time(question: str, response: str) -> None:
    rating = rate_offline(question, response, Scale(1, 10))
    assert 1 <= rating.score <= 10
    assert rating == rate_offline(question, response, Scale(1, 10))
