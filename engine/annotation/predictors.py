"""Loaded predictors, one a model version, swapped when the champion of a project changes.

A new version is loaded and tested while the current one answers. The previous version stays loaded, so rollback is
immediate. What networks need (torch, timm, transformers) is imported in a thread of a server that serves already: it
takes as long as all else together.
"""

import logging
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from db.tables import ModelVersion
from engine.annotation.shared_results import SharedResults
from engine.errors import Refused
from engine.models import registry
from engine.paused_collection import paused_collection
from engine.workspace import Workspace
from model.deferred import Deferred
from model.device_missing import DeviceMissing
from model.examples import Word

if TYPE_CHECKING:
    from model.inference import Predictor

_log = logging.getLogger(__name__)
_PINNED = 2  # versions beside those in use that stay loaded; each is some tens of megabytes


@dataclass(frozen=True, slots=True)
class Loaded:
    """Predictor with the version that it was loaded from."""

    version: ModelVersion
    predictor: "Predictor"


class Predictors:
    """Predictors of projects, held in memory; `refresh` follows promotions. Thread-safe."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._networks = Deferred(lambda: _import_networks(workspace.settings.threads))
        self.is_importing = False  # by `import_networks`, in its thread
        self.import_error: str | None = None
        self._lock = threading.Lock()
        self._loading = threading.Lock()
        self._in_use: dict[str, Loaded] = {}  # by project
        self._by_checkpoint: dict[str, Predictor] = {}
        self._pinned: SharedResults[str, Predictor] = SharedResults(_PINNED)  # by checkpoint
        self._unusable: dict[str, str] = {}  # by project: error of a champion that could not be loaded

    def import_networks(self) -> None:
        """Import what networks need, before the first question does; takes seconds at the first call of a process."""
        self.is_importing = True
        try:
            with paused_collection():
                self._networks.get()
        except Exception as error:
            _log.exception("what networks need cannot be imported")
            self.import_error = f"{type(error).__name__}: {error}"
        finally:
            self.is_importing = False

    @property
    def is_ready(self) -> bool:
        """Whether what networks need is imported, so that no question waits for it."""
        return self._networks.is_known

    def of(self, project_id: str) -> Loaded:
        """Return the predictor of a project; loads its champion at first use. Raises Refused."""
        with self._lock:
            loaded = self._in_use.get(project_id)
        if loaded is None:
            self._follow(project_id)
            with self._lock:
                loaded = self._in_use.get(project_id)
            if loaded is None:
                raise Refused(self._unusable.get(project_id, "No model can be loaded; see the server log."))
        return loaded

    def pinned(self, project_id: str, version: str | None) -> Loaded:
        """Return the predictor of a certain version; None: of the version in use, as `of` does.

        Args:
            project_id: Project that uses the version.
            version: Id of a version, or its name, such as "v3".

        Raises:
            NotFound: The project has no such version.
            Refused: It cannot be loaded.
        """
        if version is None:
            return self.of(project_id)
        with self._workspace.database.read() as session:
            wanted = registry.named(session, project_id, version)
        with self._lock:
            known = self._by_checkpoint.get(wanted.checkpoint_sha256)
        if known is not None:
            return Loaded(wanted, known)
        try:
            return Loaded(wanted, self._pinned.get(wanted.checkpoint_sha256, lambda: self._load(wanted)))
        except Refused:
            raise
        except Exception as error:
            name = registry.label(wanted)
            _log.exception("the model %s cannot be used", name)
            raise Refused(
                f"The model {name} cannot be loaded; name another version, and see the server log."
            ) from error

    def folds(self, loaded: Loaded) -> list[Loaded]:
        """Return a version with the weights of each of its folds; empty without folds.

        Those of fold n have not learned from its documents. Raises Refused when they are missing on disk.
        """
        paths = registry.fold_paths(self._workspace, loaded.version)
        return [Loaded(loaded.version, self._loaded_from(path)) for path in paths]

    def versions_in_use(self) -> dict[str, str]:
        """Return the names of the versions that answer in this process, by checkpoint."""
        with self._lock:
            loaded = list(self._in_use.values())
        return {each.version.checkpoint_sha256: registry.label(each.version) for each in loaded}

    def refresh(self) -> list[str]:
        """Load the champions promoted since the last call; return the projects whose model changed."""
        with self._lock:
            projects = list(self._in_use)
        return [project_id for project_id in projects if self._follow(project_id)]

    def _follow(self, project_id: str) -> bool:
        """Load the project's champion; when it cannot be loaded, the current version stays."""
        with self._loading:
            with self._workspace.database.read() as session:
                champion = registry.champion(session, project_id)
            with self._lock:
                before = self._in_use.get(project_id)
            if before is not None and before.version.id == champion.id:
                return False
            try:
                predictor = self._by_checkpoint.get(champion.checkpoint_sha256) or self._load(champion)
            except Exception as error:
                name = registry.label(champion)
                _log.exception("the model %s cannot be used", name)
                self._unusable[project_id] = (
                    str(error)
                    if isinstance(error, Refused | DeviceMissing)
                    else f"The model {name} cannot be loaded; roll back to another model, and see the server log."
                )
                return False
            self._unusable.pop(project_id, None)
            with self._lock:
                self._in_use[project_id] = Loaded(champion, predictor)
                wanted = {loaded.version.checkpoint_sha256 for loaded in self._in_use.values()}
                if before is not None:
                    wanted.add(before.version.checkpoint_sha256)
                wanted.add(champion.checkpoint_sha256)
                self._by_checkpoint[champion.checkpoint_sha256] = predictor
                self._by_checkpoint = {sha: kept for sha, kept in self._by_checkpoint.items() if sha in wanted}
            return before is not None

    def _loaded_from(self, path: Path) -> "Predictor":
        return self._networks.get().load(path, self._workspace.settings.device)

    def _load(self, version: ModelVersion) -> "Predictor":
        predictor = self._loaded_from(registry.checkpoint_path(self._workspace, version))
        self_test(predictor)
        return predictor


def _import_networks(threads: int) -> "type[Predictor]":
    from model.devices import use_threads
    from model.inference import Predictor

    use_threads(threads)
    return Predictor


def self_test(predictor: "Predictor") -> None:
    """Ask a small generated page; raises RuntimeError when the answer has not the expected shape."""
    words = [Word("Total", (20, 20, 80, 40)), Word("12.50", (100, 20, 160, 40))]
    page = predictor.encode(Image.new("RGB", (200, 260), "white"), words)
    answer = predictor.ask(page, "What is the total?", points=[(130, 30, True)])
    if answer.mask.shape != (260, 200) or not 0 <= answer.score <= 1 or not 0 <= answer.answered <= 1:
        raise RuntimeError("the answer of the self-test has an unexpected shape")
