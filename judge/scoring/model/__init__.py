"""Sends a prompt to any OpenAI-compatible server; gives its answers and their cost, or raises a `JudgeError`."""

from judge.scoring.model.chat import DEFAULT_MODEL, ChatModel
from judge.scoring.model.client import make_client
from judge.scoring.model.completion import Choice, Completion, Token

__all__ = ["DEFAULT_MODEL", "ChatModel", "Choice", "Completion", "Token", "make_client"]
