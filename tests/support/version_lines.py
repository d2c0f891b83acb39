"""A project with a line of model versions, whose weights are small files."""

from pathlib import Path

from db.tables import ModelVersion, User
from engine.accounts.users import ensure_local_user
from engine.models import promotions, registry
from engine.models.pruning import KEPT, prune
from engine.workspace import Workspace
from tests.support.factories import make_project, save_tiny_model


class House:
    """A project with a line of versions; of each the weights in use and those of two folds."""

    def __init__(self, workspace: Workspace, name: str = "bills") -> None:
        self.workspace = workspace
        self.project = make_project(workspace, name).id
        self.admin: User = ensure_local_user(workspace)
        self.versions: list[ModelVersion] = []

    def add(self, *contents: bytes) -> ModelVersion:
        number = registry.versions(self.workspace, self.project)[0].number + 1
        own, *folds = [self.workspace.blobs.put(content) for content in contents or self.drawn(number)]
        with self.workspace.database.write() as session:
            version = ModelVersion(
                project_id=self.project, number=number, checkpoint_sha256=own, fold_sha256s=folds, code_version="test"
            )
            session.add(version)
        self.versions.append(version)
        return version

    def drawn(self, number: int) -> list[bytes]:
        return [f"{self.project} {number} {part}".encode() for part in ("used", "fold 1", "fold 2")]

    def promote(self, version: ModelVersion) -> None:
        promotions.promote(self.workspace, self.project, version.id, by=self.admin, force=True, reason="a test")

    def prune(self, keep: int = KEPT) -> list[str]:
        return [one.label for one in prune(self.workspace, self.project, by=self.admin, keep=keep)]

    def on_disk(self) -> list[str]:
        """Versions all of whose files are there."""
        return [
            f"v{one.number}"
            for one in self.versions
            if all(sha256 in self.workspace.blobs for sha256 in (one.checkpoint_sha256, *one.fold_sha256s))
        ]


def make_house(workspace: Workspace, folder: Path) -> House:
    """Return a project of an installation whose shipped model is a tiny one, made in a folder."""
    save_tiny_model(folder / "tiny.safetensors")
    settings = workspace.settings.model_copy(update={"model_path": folder / "tiny.safetensors"})
    workspace = Workspace(settings, workspace.database, workspace.blobs)
    registry.ensure_shipped(workspace)
    return House(workspace)
