"""The network and how it learns. Tensors in, tensors out: no database, no web, no files but checkpoints."""

from model import torchvision_fix

torchvision_fix.install()
