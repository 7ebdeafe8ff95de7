"""No stronger model is asked beside the first: of verdicts where one was, its column goes, and the
ratings that did not count.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_cases = sa.table("cases", *map(sa.column, ("team_id", "id", "model", "escalation")))
_ratings = sa.table("ratings", *map(sa.column, ("team_id", "case_id", "model")))


def _is_stronger(model: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """Whether a model is the second in "first > second"."""
    end = sa.literal(" > ", sa.Text).concat(model)
    begins_at = sa.func.length(_cases.c.escalation) - sa.func.length(end) + 1
    return sa.func.substr(_cases.c.escalation, begins_at) == end


def upgrade() -> None:
    is_of_other_model = sa.and_(
        _cases.c.team_id == _ratings.c.team_id,
        _cases.c.id == _ratings.c.case_id,
        _cases.c.escalation.is_not(None),
        _is_stronger(_ratings.c.model) != _is_stronger(_cases.c.model),
    )
    op.execute(sa.delete(_ratings).where(sa.select(_cases.c.id).where(is_of_other_model).exists()))
    # Not in batch mode: both databases can drop a column, and no copy of the table is needed.
    op.drop_column("cases", "escalation")
