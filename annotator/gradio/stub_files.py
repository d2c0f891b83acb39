"""Keep Gradio from writing stub files of its components at every import.

For editors, Gradio writes a .pyi file beside each component when its class is made (gradio/component_meta.py). That
takes a third of the imports of a server, and it writes into installed packages, which a server may not own. Nothing
reads these files when the application runs.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

_MODULE, _WRITER = "gradio.component_meta", "create_or_modify_pyi"


class _WithoutStubs(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        if hasattr(module, _WRITER):
            setattr(module, _WRITER, lambda *_: None)


class StubWriterRemoval(MetaPathFinder):
    """Import hook that takes the writer of stub files out of Gradio."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec of Gradio's module whose loader removes the writer; None for all other modules."""
        if fullname != _MODULE:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _WithoutStubs(fullname, spec.loader.path)
        return spec


def install() -> None:
    """Put the hook in front of this process's importers; a second call changes nothing."""
    if not any(isinstance(finder, StubWriterRemoval) for finder in sys.meta_path):
        sys.meta_path.insert(0, StubWriterRemoval())
