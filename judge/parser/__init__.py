"""The parser: what a model wrote becomes a `Rating`, or `Unscored` with the reason."""

from judge.parser.parsing import parse_rating, unscored

__all__ = ["parse_rating", "unscored"]
