"""The bot's messages and windows, and the page of `judge view`, in the system's Chromium."""

from sandbox.tests.chromium import chromium, open_tab, pytest_collection_modifyitems, tabs

__all__ = ["chromium", "open_tab", "pytest_collection_modifyitems", "tabs"]
