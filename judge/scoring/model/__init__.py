"""Sends a prompt to any OpenAI-compatible server; gives its answers and their cost, or raises a `JudgeError`."""

from judge.scoring.model.chat import DEFAULT_MODEL, LONG, PATIENCE_S, ChatModel
from judge.scoring.model.client import check_client, make_client
from judge.scoring.model.completion import Choice, Completion, Token
from judge.scoring.model.connection import Connection
from judge.scoring.model.wishes import FLEX, Wishes

__all__ = [
    "DEFAULT_MODEL",
    "FLEX",
    "LONG",
    "PATIENCE_S",
    "ChatModel",
    "Choice",
    "Completion",
    "Connection",
    "Token",
    "Wishes",
    "check_client",
    "make_client",
]
