"""The baseline of a new database, which is created as in `bot/store/schema.py` and stamped with the
newest revision.

Later scripts bring an older database up to date. Source: Alembic's cookbook, "Building an Up to
Date Database from Scratch", https://alembic.sqlalchemy.org/en/latest/cookbook.html
"""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Does nothing, because no database is older."""
