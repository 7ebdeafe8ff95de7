"""Alembic's entry point: migrates over the connection that the store has opened."""

from alembic import context

from bot.store.schema import cases

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=cases.metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
