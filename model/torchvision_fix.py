"""Lets torchvision be imported beside a CPU build of torch.

PyPI's torchvision wheel is built for CUDA. Beside a CPU torch its operators do not load, and ``import torchvision`` (so
timm and open_clip) dies with "operator torchvision::nms does not exist". Declaring the two operators is enough; they
stay without an implementation, so torchvision.ops and torchvision.io remain unusable (Pillow reads images here).
"""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec

_OPERATORS = ("nms", "qnms")


class TorchvisionFix(MetaPathFinder):
    """Declares the missing operators when somebody first imports torchvision.

    Waiting for that import, rather than declaring at once, keeps ``import model.masks`` free of torch.
    """

    library: object = None  # torch forgets the declarations once the Library is collected

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname == "torchvision" and self.library is None:
            import torch

            if torch.version.cuda is None:
                library = torch.library.Library("torchvision", "DEF")
                for name in _OPERATORS:
                    library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
                self.library = library
        return None  # the import itself goes on as usual


def install() -> None:
    """Puts one mend in front of the importers of this process; a second call changes nothing."""
    if not any(isinstance(finder, TorchvisionFix) for finder in sys.meta_path):
        sys.meta_path.insert(0, TorchvisionFix())
