"""How many calls Slack accepts before it answers `ratelimited`, and how long it waits for the app."""

from dataclasses import dataclass, field

from pocket_slack.clock import Clock
from pocket_slack.errors import SlackError

CALLS_PER_MINUTE = {1: 1, 2: 20, 3: 50, 4: 100, 5: 600}
"""Slack's tiers: https://docs.slack.dev/apis/web-api/rate-limits; 5 is the limit of `assistant.threads.setStatus`."""


@dataclass(frozen=True)
class Limits:
    """Rate and time limits; Slack's own by default.

    Attributes:
        posts_per_second: Per channel, for `chat.postMessage`; 0 turns the limit off. Slack says
            "one per second".
        post_burst: Slack allows short bursts and does not say of how many posts; this number is our
            guess.
        has_tiers: Whether the per-minute tiers of the other methods apply.
        answer_within_s: How long an app has to acknowledge a payload, and to use a trigger id. A
            test that shares its machine with other work gives it longer.
    """

    posts_per_second: float = 1.0
    post_burst: int = 5
    has_tiers: bool = True
    answer_within_s: float = 3.0

    @classmethod
    def off(cls) -> "Limits":
        """No rate limits, for tests that are about something else."""
        return cls(posts_per_second=0, has_tiers=False)


@dataclass
class _Bucket:
    level: float = 0.0
    at: float = 0.0


@dataclass
class Meter:
    """Counts calls in leaking buckets, one per method and channel."""

    clock: Clock
    limits: Limits
    _buckets: dict[tuple[str, str], _Bucket] = field(default_factory=dict)

    def count_post(self, channel_id: str) -> None:
        """Counts one post in a channel."""
        if self.limits.posts_per_second:
            self._count(("post", channel_id), self.limits.posts_per_second, self.limits.post_burst)

    def count_call(self, method: str, tier: int | None) -> None:
        """Counts one call of a method of that tier; None means that the method has no tier."""
        if self.limits.has_tiers and tier is not None:
            per_minute = CALLS_PER_MINUTE[tier]
            self._count((method, ""), per_minute / 60, per_minute)

    def _count(self, key: tuple[str, str], per_second: float, burst: int) -> None:
        bucket = self._buckets.setdefault(key, _Bucket(at=self.clock.now()))
        now = self.clock.now()
        bucket.level = max(0.0, bucket.level - (now - bucket.at) * per_second)
        bucket.at = now
        if bucket.level + 1 > burst:
            raise SlackError(
                "ratelimited", retry_after_s=max(1, round((bucket.level + 1 - burst) / per_second))
            )
        bucket.level += 1
