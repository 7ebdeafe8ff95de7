"""Sends a prompt to any OpenAI-compatible server; gives its answers and their cost, or raises a `JudgeError`."""

from judge.model.chat import DEFAULT_MODEL, ChatModel
from judge.model.client import make_client
from judge.model.completion import Choice, Completion, Token

__all__ = ["DEFAULT_MODEL", "ChatModel", "Choice", "Completion", "Token", "make_client"]
