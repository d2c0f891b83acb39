"""Let torchvision be imported beside a CPU build of torch.

PyPI's torchvision wheel is built for CUDA. Beside a CPU torch its operators do not load, and `import torchvision`,
hence timm and open_clip, fails with "operator torchvision::nms does not exist". Declaring the two operators suffices.
They have no implementation, so torchvision.ops and torchvision.io stay unusable; Pillow reads images here.
This module imports no torch by itself, so that `import model.masks` stays light.
"""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec

_OPERATORS = ("nms", "qnms")


class TorchvisionFix(MetaPathFinder):
    """Import hook that declares the missing operators when torchvision is first imported.

    Declaring them at once would import torch together with `model.masks`.
    """

    library: object = None  # kept alive: torch drops the declarations with the Library

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Declare the operators before torchvision loads; always returns None, so that the import goes on."""
        if fullname == "torchvision" and self.library is None:
            import torch

            if torch.version.cuda is None:
                library = torch.library.Library("torchvision", "DEF")
                for name in _OPERATORS:
                    library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
                self.library = library
        return None  # the import itself goes on as usual


def install() -> None:
    """Put the hook in front of this process's importers; a second call changes nothing."""
    if not any(isinstance(finder, TorchvisionFix) for finder in sys.meta_path):
        sys.meta_path.insert(0, TorchvisionFix())
