"""The network and its training.

Tensors go in and tensors come out. No module here knows the database, the web or any file but checkpoints.
"""

from model import torchvision_fix

torchvision_fix.install()
