"""How many questions a model sorts as people did: `python -m bench.topics questions.jsonl MODEL`.

The rows of the file have `question` and `topic`, as people gave it. Of ten topics, drawn at random,
some questions each are sorted twice by the server at OPENAI_BASE_URL: into the topics by people's
names, and into topics that the model named itself. For the second there is the purity: the share of
questions whose topic by people is the most frequent one in their topic by the model, beside the
mean of the same with the model's topics dealt out at random. Beside the first stands what the words
alone do: the topic with most of its name's words in the question.
"""

import argparse
import asyncio
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from judge import Judge
from judge.evaluation.naming import OTHER, words_in
from judge.evaluation.stats import wilson
from judge.evaluation.topics import MOST_TOPICS, name_topics, sort_by_topic

DEALS = 500
OPTIONS = {"temperature": 0, "max_tokens": 500}  # a small model may not end its answer


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", type=Path)
    parser.add_argument("model")
    parser.add_argument("--each", type=int, default=15, help="questions of a topic")
    parser.add_argument("--seed", type=int, default=1)
    asyncio.run(measure(parser.parse_args()))


async def measure(arguments: argparse.Namespace) -> None:
    generator = random.Random(arguments.seed)
    questions_of = defaultdict[str, list[str]](list)
    for line in arguments.path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        questions_of[row["topic"].replace("_", " ")].append(row["question"])
    topics = generator.sample(sorted(questions_of), MOST_TOPICS)
    asked = [
        (question, topic)
        for topic in topics
        for question in generator.sample(questions_of[topic], arguments.each)
    ]
    generator.shuffle(asked)
    questions = dict(enumerate(question for question, _ in asked))
    by_people = dict(enumerate(topic for _, topic in asked))
    by_words = {key: nearest(question, topics) for key, question in questions.items()}
    print(f"{len(asked)} questions on: {', '.join(topics)}")
    print(f"words alone: {right(by_words, by_people)}")
    async with Judge(arguments.model, timeout_s=900, options=OPTIONS) as judge:
        began = time.monotonic()
        sorted_ = await sort_by_topic(judge.write, questions, topics)
        print(f"people's names: {right(sorted_, by_people)}; {time.monotonic() - began:.0f} s")
        names = await name_topics(judge.write, [*questions.values()])
        print(f"the model's names: {', '.join(names)}")
        sorted_ = await sort_by_topic(judge.write, questions, names)
    groups = [sorted_.get(key, "not sorted") for key in questions]
    labels = [by_people[key] for key in questions]
    dealt = []
    for _ in range(DEALS):
        generator.shuffle(labels)
        dealt.append(purity(groups, labels))
    found = purity(groups, list(by_people.values()))
    print(f"purity {found:.0%}, by chance {fmean(dealt):.0%}; {dict(Counter(groups))}")


def right(sorted_: Mapping[int, str], by_people: Mapping[int, str]) -> str:
    equal = sum(sorted_.get(key) == topic for key, topic in by_people.items())
    share, low, high = wilson(equal, len(by_people))
    others = sum(topic == OTHER for topic in sorted_.values())
    return (
        f"{share:.0%} ({low:.0%} to {high:.0%}) right, {others} other, "
        f"{len(by_people) - len(sorted_)} not sorted"
    )


def nearest(question: str, topics: Sequence[str]) -> str:
    said = words_in(question)
    return max(topics, key=lambda topic: len(said & words_in(topic)))


def purity(groups: Sequence[str], labels: Sequence[str]) -> float:
    counts = defaultdict[str, Counter[str]](Counter)
    for group, label in zip(groups, labels, strict=True):
        counts[group][label] += 1
    return sum(max(count.values()) for count in counts.values()) / len(labels)


if __name__ == "__main__":
    main()
