"""What a new log begins with: it is made as `bot/store/schema.py` says, and stamped with the newest revision.

Scripts that follow bring an older log up to date. Source: Alembic's cookbook, "Building an Up to Date Database from
Scratch", https://alembic.sqlalchemy.org/en/latest/cookbook.html
"""

revision = "release_0003"  # "0001" to "0023", "release_0001" and "release_0002" were those from before the release
down_revision = None


def upgrade() -> None:
    """Nothing: no log is older."""
