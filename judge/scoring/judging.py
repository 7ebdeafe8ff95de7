"""`Judge`, which turns a question and a response into a verdict."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar, Unpack

from judge.errors import DeadlineError, JudgeError, SetupError
from judge.scoring import panel, ratings, ways
from judge.scoring.attacks import find_flags, nothing_to_judge, too_long
from judge.scoring.beside import lacks_reason, with_points, with_reason
from judge.scoring.conversation import Turn
from judge.scoring.model.chat import DEFAULT_MODEL, LONG, ChatModel
from judge.scoring.model.client import NO_MODEL, Connection
from judge.scoring.model.completion import Completion
from judge.scoring.model.retirement import Retirement, find_retirement
from judge.scoring.offline import OFFLINE, rate_offline
from judge.scoring.prompt import Texts, check_texts
from judge.scoring.rubric import DEFAULT_RUBRIC, Rubric, load_rubric, reference_version

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_FAILED = ratings.UnscoredReason.CALL_FAILED
_NAME_ONE = "set OPENAI_API_KEY or OPENAI_BASE_URL, and name a model with JUDGE_MODEL."
T = TypeVar("T")


class Written(NamedTuple):
    """What a model wrote, and the tokens of prompt and answer; None if the server counts none."""

    text: str
    tokens: int | None


class Judge:
    """Scores responses by one rubric, with one model or a panel of several.

        async with Judge() as judge:
            verdict = await judge.score("What is 2 + 2?", "Four.")

    Share one judge between the tasks of an event loop: it keeps its connections open, and remembers
    what it learns about a server.

    Args:
        model: The model's name on the server, or "offline" for the rater without a model. Several
            names, in a list or separated by commas, are a panel.
        rubric: A rubric, the name of one that comes with the package, or the path of a file.
        samples: Ratings by each model, at least 1; None means 3 by a single model, and 1 by each
            model of a panel. A single model is asked only for ratings that can change the score:
            two of three if these two are equal. For one rating, a model is asked for its likeliest
            answer (temperature 0); for several, it keeps the server's temperature, because
            identical answers would show no spread.
        client: An `AsyncOpenAI` to use, with its own key and address, or a `Connection`; the caller
            closes it. By default, one is created at the first call from OPENAI_API_KEY and
            OPENAI_BASE_URL.
        timeout_s: Longest time for an answer, from when the request goes to the server, while
            others wait. A server that answers one request at a time gets fewer at once, and an
            answer that it writes alone is waited for; with that and retries, a verdict takes at
            most ten times as long, or 15 minutes.
        ask: "text" asks for ratings with reasons. "distribution" asks each model once, for a few
            tokens with their log probabilities, and for text where these do not speak for the
            score. "decision" asks decision models, for the probability of each score and of each
            criterion of the rubric. The last two give no reasons (`with_reason` does).
        more: `effort`, how much the model thinks before it answers, in the server's word
            (`reasoning_effort`); `options`, more fields for the body of each request, as an object
            or as JSON; `tier`, the server's `service_tier`, of which "flex" may take 15 minutes for
            a verdict; `answer_tokens`, the limit for an answer, thinking included, by default 1,024
            and 8,192 if the model thinks; `points`, whether to ask, in one more request for each
            verdict with a score, which criteria of the rubric are met.

    Attributes:
        model: The name of the model that is asked, or "offline"; for a panel, all names separated
            by commas.
        samples: The largest number of ratings that each model is asked for.
        rubric: The rubric that responses are scored by.
        reference: What responses must agree with that are given none of their own; see `against`.

    Raises:
        RubricError: The rubric cannot be found or is not valid.
        SetupError: A model is named twice or not at all, or an argument is not valid or does not go
            with another.
    """

    def __init__(
        self,
        model: Sequence[str] | str = DEFAULT_MODEL,
        rubric: Rubric | str | Path = DEFAULT_RUBRIC,
        samples: int | None = None,
        client: "AsyncOpenAI | Connection | None" = None,
        timeout_s: float = 60,
        *,
        ask: str = ways.TEXT,
        **more: Unpack[ways.More],
    ) -> None:
        self._settings = ways.to_settings(model, samples, timeout_s, ask, more)
        self.model = ", ".join(self._settings.models)
        self.samples = 1 if self.model == OFFLINE else self._settings.ratings
        self.rubric = load_rubric(rubric)
        self.reference = ""
        if self._settings.points:
            self._check_points()
        self._is_own = not isinstance(client, Connection)  # which closes with this judge
        self._connect = client if isinstance(client, Connection) else Connection(client)
        self._members = [self._to_member(name) for name in self._settings.models]

    def _to_member(self, name: str) -> panel.Member:
        settings = self._settings
        asked = ChatModel(name, self._connect, settings.wishes, settings.answer_s)
        stops = len(settings.models) == 1
        make = ways.MEMBERS[settings.ask]
        return make(asked, settings.ratings, self.rubric.scale, stops=stops)

    @property
    def decides(self) -> bool:
        """Whether `decide` may be called."""
        return self._settings.decides

    @property
    def most_ratings(self) -> int:
        """The largest number of ratings for one verdict, by all models together; 0 if no model is
        asked.
        """
        return 0 if self.model == OFFLINE else sum(each.samples for each in self._members)

    @property
    def ask(self) -> str | None:
        """How it asks, as far as that makes scores comparable: "decision, options 1a2b3c4d"; None
        for text as usual.
        """
        way = self._settings.ask
        aside = self.rubric.aside
        parts = [] if way == ways.TEXT else [way]
        if self.decides and aside:
            parts = [f"{way} {sha256(aside.encode()).hexdigest()[:8]}"]
        return ", ".join([*parts, *self._settings.wishes.version]) or None

    @property
    def shortfalls(self) -> list[str]:
        """A sentence for each thing that the server did otherwise than asked for."""
        models = [member.model for member in self._members]
        sentences = [sentence for model in models for sentence in model.shortfalls]
        return list(dict.fromkeys([*sentences, *ways.doubles(models)]))

    @property
    def version(self) -> str:
        """What comparable scores have in common: models, rubric, samples and way of asking, if not
        the default ones.

        Scores of two versions must not be combined in one figure.
        """
        parts = [self.model, f"{self.rubric.name} {self.rubric.version}"]
        asks_a_model = self.model != OFFLINE
        if asks_a_model and self.samples != self._settings.usual_ratings:
            parts.append(f"{self.samples} ratings")
        if self.ask:
            parts.append(self.ask)
        if asks_a_model and self.reference:
            parts.append(f"with reference {reference_version(self.reference)}")
        return ", ".join(parts)

    def by(self, rubric: Rubric) -> "Judge":
        """The same judge with another rubric of the same scale; both share the connections, which
        this one closes.
        """
        if rubric.scale != self.rubric.scale:
            raise SetupError(
                f"Rubric {rubric.name!r} has another scale than {self.rubric.name!r}; make "
                "a new judge."
            )
        other = copy(self)
        other.rubric = rubric
        return other

    def against(self, reference: str) -> "Judge":
        """The same judge, which compares responses with this text; its version has its hash."""
        other = self if reference.strip() == self.reference else copy(self)
        other.reference = reference.strip()
        return other

    async def score(
        self,
        question: str,
        response: str,
        *,
        conversation: Sequence[Turn] = (),
        reference: str = "",
        earlier: Sequence[ratings.Result] = (),
    ) -> ratings.Verdict:
        """The verdict on `response` as an answer to `question`, asked after the turns of
        `conversation`, oldest first.

        The `reference` is what it must agree with; it stands where the rubric places it, or before
        the question. If the model answers nonsense, the verdict is unscored. So it is for texts
        with nothing to judge, or with more than 100,000 characters, and without a reference that
        the rubric needs; then no model is asked. `earlier` are the `ratings` of an earlier try's
        error.

        Raises:
            JudgeError: No more than half of the ratings are usable and calls failed; the subclass
                says how.
            TypeError: A text is no string, or the conversation no sequence of turns.
        """
        check_texts(question, response, conversation, reference)
        texts = self._texts(question, response, conversation, reference)
        if unread := too_long(*texts[1:]):
            return self.unscored(unread)
        flags = find_flags(*texts[1:])
        if nothing := nothing_to_judge(question, response) or self._lacks_reference(texts):
            return self.unscored(nothing, flags)
        if self.model == OFFLINE:
            rating = rate_offline(question, response, self.rubric.scale, self.rubric.name)
            return self._combine([rating], flags=flags)
        return await self._by_models(texts, flags, earlier)

    async def _by_models(
        self, texts: Texts, flags: Sequence[ratings.Flag], earlier: Sequence[ratings.Result]
    ) -> ratings.Verdict:
        await self._connect()  # outside the timeout, because the first call's imports take long
        give_up_at = time.monotonic() + self._settings.patience_s
        results = await self._ask(texts, give_up_at, earlier)
        skipped = panel.skipped_ratings(self._members, results)
        verdict = self._combine(results, flags=flags, skipped_ratings=skipped)
        if self._settings.points and verdict.is_scored and verdict.points is None:
            with suppress(JudgeError, TimeoutError):  # the score stands without them
                return await with_points(self._writer, verdict, texts, give_up_at)
        return verdict

    def _lacks_reference(self, texts: Texts) -> ratings.Unscored | None:
        if texts.reference or not self.rubric.needs_reference:
            return None
        lacks = f"The rubric {self.rubric.name!r} compares with a reference, and there is none."
        return ratings.Unscored(reason=ratings.UnscoredReason.NO_REFERENCE, detail=lacks)

    def _texts(
        self, question: str, response: str, conversation: Sequence[Turn], reference: str = ""
    ) -> Texts:
        return Texts(
            self.rubric, question, response, conversation, reference.strip() or self.reference
        )

    async def with_points(
        self,
        verdict: ratings.Verdict,
        question: str,
        response: str,
        *,
        conversation: Sequence[Turn] = (),
    ) -> ratings.Verdict:
        """A verdict on these texts with the `points` of the rubric's criteria, which one more
        request asks for.

        Each is 1 or 0, or None if the model's answer leaves it open. The score stays.

        Raises:
            SetupError: The judge is the offline rater, or its rubric names no criteria.
            JudgeError: The call failed.
        """
        self._check_points()
        texts = self._texts(question, response, conversation)
        return await self._in_time(lambda model, until: with_points(model, verdict, texts, until))

    async def with_reason(
        self,
        verdict: ratings.Verdict,
        question: str,
        response: str,
        *,
        conversation: Sequence[Turn] = (),
    ) -> ratings.Verdict:
        """A verdict with a `justification`; one more request asks for it if it has `probabilities`."""
        if not lacks_reason(verdict):
            return verdict
        texts = self._texts(question, response, conversation)
        return await self._in_time(lambda model, until: with_reason(model, verdict, texts, until))

    async def _in_time(self, ask: Callable[[ChatModel, float], Awaitable[T]]) -> T:
        give_up_at = time.monotonic() + self._settings.patience_s
        try:
            return await ask(self._writer, give_up_at)
        except TimeoutError as exc:
            raise self._too_late(self._writer, give_up_at) from exc

    def _refuse_offline(self, what: str) -> None:
        if self.model == OFFLINE:
            raise SetupError(f"{OFFLINE!r} is no model and {what}; {_NAME_ONE}")

    def _check_points(self) -> None:
        self._refuse_offline("says no points")
        if not self.rubric.criteria:
            raise SetupError(
                f"Rubric {self.rubric.name!r} names no criteria; add them under [criteria]."
            )

    @property
    def _writer(self) -> ChatModel:
        return self._members[0].model

    async def write(self, prompt: str) -> Written:
        """The first model's answer to any prompt; the same each time, as far as its server can."""
        self._refuse_offline("writes nothing")
        return await self._written(
            lambda model, until: model.complete(
                prompt, temperature=0.0, most_tokens=LONG, give_up_at=until
            )
        )

    async def decide(
        self, messages: Sequence[Mapping[str, str]], questions: Sequence[Mapping[str, Any]]
    ) -> Written:
        """A decision model's answers to any questions, as the JSON of a list."""
        return await self._written(
            lambda model, until: model.decide(messages, questions, give_up_at=until)
        )

    async def _written(self, ask: Callable[[ChatModel, float], Awaitable[Completion]]) -> Written:
        try:
            answer = await self._in_time(ask)
        except SetupError as exc:
            if str(exc).startswith(NO_MODEL):  # the offline rater writes nothing
                raise SetupError(f"{NO_MODEL}.") from exc
            raise
        tokens = answer.input_tokens
        if tokens is not None:
            tokens += answer.output_tokens or 0
        return Written(answer.choices[0].text, tokens)

    async def retirements(self) -> list[Retirement]:
        """The models of which the server says when it shuts them down."""
        if self.model == OFFLINE:
            return []
        client = await self._connect()
        found = [await find_retirement(client, name) for name in self._settings.models]
        return [each for each in found if each]

    def unscored(
        self, why: ratings.Unscored, flags: tuple[ratings.Flag, ...] = ()
    ) -> ratings.Verdict:
        """The verdict on texts that no model has rated."""
        return self._combine((), unscored=why, flags=flags)

    def _combine(self, results: Sequence[ratings.Result], **more: Any) -> ratings.Verdict:
        return ratings.combine(results, rubric=self.rubric, model=self.model, ask=self.ask, **more)

    async def aclose(self) -> None:
        """Closes the connections that this judge opened; a client that the caller gave stays open."""
        if self._is_own:
            await self._connect.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _ask(
        self, texts: Texts, give_up_at: float, earlier: Sequence[ratings.Result]
    ) -> list[ratings.Result]:
        """The ratings of all members in order, failed ones as unscored; raises the error of one if
        too few are usable.
        """
        results: list[ratings.Result] = []
        failures: list[JudgeError] = []
        for model, outcome in await panel.rate(self._members, texts, earlier, give_up_at):
            if isinstance(outcome, ratings.Rating | ratings.Unscored):
                results.append(ratings.with_short_raw(outcome))
                continue
            failure = outcome
            if isinstance(failure, TimeoutError):
                failure = self._too_late(model, give_up_at)
            failures.append(failure)
            results.append(
                ratings.Unscored(
                    reason=_FAILED, detail=str(failure), model=model.name, cost_usd=0.0
                )
            )
        if failures and not ratings.has_majority(results):
            failure = min(failures, key=lambda failure: failure.is_too_long)
            failure.ratings = tuple(
                each for each in results if getattr(each, "reason", None) is not _FAILED
            )
            raise failure
        return results

    def _too_late(self, model: ChatModel, give_up_at: float) -> DeadlineError:
        patience_s = self._settings.patience_s
        why = f"{patience_s:g} s"
        if time.monotonic() < give_up_at:
            why = f"{patience_s / 2:g} s, and others waited for it"
        is_text = self._settings.ask == ways.TEXT
        shorter = "set JUDGE_ASK=distribution for short answers, " if is_text else ""
        return DeadlineError(
            f"No answer from model {model.name!r} within {why}; raise JUDGE_TIMEOUT_S, lower "
            f"JUDGE_CONCURRENCY, {shorter}or choose a faster JUDGE_MODEL."
        )
