"""Scored replies as one page for the browser that asks nobody for anything."""

from judge.view.page import save_page
from judge.view.reading import MOST_REPLIES, Reader, Replies, read_replies

__all__ = ["MOST_REPLIES", "Reader", "Replies", "read_replies", "save_page"]
