"""Cache the features of a frozen image encoder, so that a page that returns is not encoded again."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Generic, TypeVar

from torch import Tensor

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Features = TypeVar("Features", bound="DataclassInstance")

MOST_BYTES = 400_000_000  # about two hundred pages of the nano preset


class FeatureMemory(Generic[Features]):
    """Cache of features by image content, dropping the least recently used above `most_bytes`."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._kept: OrderedDict[bytes, Features] = OrderedDict()
        self.bytes = 0
        self.reads = 0  # number of cache misses

    def recall(self, image: Tensor, read: Callable[[Tensor], Features]) -> Features:
        """Return the features of an image batch, from the cache or computed.

        Args:
            image: [G, 3, h, w].
            read: computes the features when they are not cached; called without gradient.

        Returns:
            The features.
        """
        name = hashlib.blake2b(image.numpy(force=True).tobytes(), digest_size=16).digest()
        cached = self._kept.get(name)
        if cached is not None:
            self._kept.move_to_end(name)
            return cached
        self.reads += 1
        features = read(image)
        self._kept[name] = features
        self.bytes += _bytes(features)
        while self.bytes > self._most and len(self._kept) > 1:
            self.bytes -= _bytes(self._kept.popitem(last=False)[1])
        return features


def _bytes(features: "DataclassInstance") -> int:
    parts = (getattr(features, field.name) for field in fields(features))
    return sum(part.numel() * part.element_size() for part in parts if isinstance(part, Tensor))
