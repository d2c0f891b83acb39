"""A network from its checkpoint."""

from pathlib import Path

from model import checkpoint
from model.network import GroundingNetwork
from model.presets import NetworkConfig


def load_network(path: str | Path) -> tuple[GroundingNetwork, str]:
    """(network, version) of a checkpoint, ready to learn. ValueError, one sentence, when it is not one of ours."""
    loaded = checkpoint.load(path)
    try:
        network = GroundingNetwork(NetworkConfig.from_dict(loaded.config))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} was saved with a config that this version does not know: {error}") from error
    try:
        network.load_state_dict(loaded.state)  # float16 weights become float32 here
    except RuntimeError as error:
        raise ValueError(
            f"The weights in {path} do not fit the preset {network.config.name!r} that it says it is of."
        ) from error
    return network, loaded.version
