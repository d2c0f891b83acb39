"""How many threads the network's arithmetic uses in this process."""

import torch


def use_threads(count: int) -> None:
    """Use `count` threads from now on; 0 leaves torch's choice, one a core."""
    if count:
        torch.set_num_threads(count)
