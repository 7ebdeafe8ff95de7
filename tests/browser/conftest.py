"""The bot's messages and windows, and the page of `judge view`, in the system's Chromium."""

from sandbox.tests.chromium import browser, chromium, open_tab, pytest_collection_modifyitems

__all__ = ["browser", "chromium", "open_tab", "pytest_collection_modifyitems"]
