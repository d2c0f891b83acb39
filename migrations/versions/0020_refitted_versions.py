"""A version may be refitted on more pages after its verdict; the judged weights stay beside those in use."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("model_versions", sa.Column("judged_sha256", sa.String(64), nullable=True))
    op.add_column("model_versions", sa.Column("refit_snapshot_sha256", sa.String(64), nullable=True))


def downgrade() -> None:
    # The version before knows one checkpoint a version: the judged one, which the verdict is of.
    versions = sa.table(
        "model_versions", sa.column("checkpoint_sha256", sa.String), sa.column("judged_sha256", sa.String)
    )
    op.execute(
        versions.update()
        .where(versions.c.judged_sha256.is_not(None))
        .values(checkpoint_sha256=versions.c.judged_sha256)
    )
    with op.batch_alter_table("model_versions") as changed:
        changed.drop_column("refit_snapshot_sha256")
        changed.drop_column("judged_sha256")
