"""Adds the points of a case, the posts that quote its reason, and the causes of a week's low replies."""

from alembic import op

revision = "release_0007"
down_revision = "release_0006"

_TABLE = """\
CREATE TABLE {name} (
    team_id VARCHAR NOT NULL, case_id INTEGER NOT NULL, channel_id VARCHAR NOT NULL, {columns},
    CONSTRAINT pk_{name} PRIMARY KEY ({key}),
    CONSTRAINT fk_{name}_cases FOREIGN KEY (team_id, case_id) REFERENCES cases (team_id, id) ON DELETE CASCADE
)"""


def upgrade() -> None:
    op.execute("ALTER TABLE cases ADD COLUMN points JSON")
    quotes = {"name": "quotes", "columns": "ts VARCHAR NOT NULL", "key": "team_id, case_id, channel_id, ts"}
    op.execute(_TABLE.format(**quotes))
    columns = "week VARCHAR NOT NULL, name TEXT NOT NULL"
    op.execute(_TABLE.format(name="causes", columns=columns, key="team_id, channel_id, week, case_id"))
    op.execute("CREATE INDEX ix_causes_team_id_case_id ON causes (team_id, case_id)")
