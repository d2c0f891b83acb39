"""What a state dict of NaturalGradient holds beside torch's, and how one is loaded with every tensor's dtype kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from torch import Tensor
from torch.optim.optimizer import Optimizer

from model.optim import adamw
from model.optim.choices import CHOICES, Subspace, parse, to_plain
from model.optim.counting import INTEGERS, place_counts
from model.optim.group_settings import validate_settings
from model.optim.sharded import as_piece, is_sharded, own
from model.optim.subspace import geometry


def made_plain(groups: Sequence[Mapping[str, Any]], state_dict: dict[str, Any]) -> dict[str, Any]:
    """Turn the choices in torch's state dict into plain values, in place, and pieces of states into DTensors.

    Args:
        groups: the optimizer's own parameter groups.
        state_dict: what torch returned for them.
    """
    for own_group, group in zip(groups, state_dict["param_groups"], strict=True):
        choices = {key: parse(key, group[key]) for key in CHOICES if key in group}  # may have been set in plain form
        group.update({key: to_plain(choice) for key, choice in choices.items()})
        subspace = cast("Subspace | None", choices.get("subspace"))
        for number, parameter in zip(group["params"], own_group["params"], strict=True):
            pieces_of_vectors = is_sharded(parameter) and geometry(parameter.shape, subspace) is None
            if number in state_dict["state"] and pieces_of_vectors:
                state = state_dict["state"][number]
                pieces = {key: as_piece(state[key], parameter) for key in adamw.MOMENTS if key in state}
                state_dict["state"][number] = state | pieces
    return state_dict


def load(optimizer: Optimizer, state_dict: dict[str, Any], by_torch: Callable[[dict[str, Any]], None]) -> None:
    """Load a state dict by torch's own method, then restore what it changes.

    torch casts state to the parameter's dtype and takes all settings of a group, also those that say how steps are
    taken.

    Args:
        optimizer: which loads.
        state_dict: what it loads.
        by_torch: torch's method, bound to the optimizer.

    Raises:
        ValueError: the groups do not fit, or a setting is invalid. Nothing is changed then.
        TypeError: a choice has a wrong type; likewise.
    """
    loaded: dict[str, Any] = {}
    ways = [{"guarded": group["guarded"], "capturable": group["capturable"]} for group in optimizer.param_groups]
    rates = [group["lr"] for group in optimizer.param_groups]

    def remember(_: Optimizer, after_hooks: dict[str, Any]) -> dict[str, Any]:
        groups = after_hooks["param_groups"]
        if len(groups) == len(ways):  # else torch says what is wrong
            groups = [{**group, **way} for group, way in zip(groups, ways, strict=True)]
            for group in groups:  # before anything is changed
                validate_settings(optimizer.defaults | group, rates=False)
        loaded.update({**after_hooks, "param_groups": groups})
        return loaded

    def restore(_: Optimizer) -> None:
        _restore_states(optimizer, loaded)
        _restore_rates(optimizer.param_groups, rates)

    # This pre-hook runs last and this post-hook first, so that the user's hooks see the same as without them.
    handles = [
        optimizer.register_load_state_dict_pre_hook(remember),
        optimizer.register_load_state_dict_post_hook(restore, prepend=True),
    ]
    try:
        by_torch(state_dict)
    finally:
        for handle in handles:
            handle.remove()


def _restore_states(optimizer: Optimizer, loaded: Mapping[str, Any]) -> None:
    saved = (number for group in loaded["param_groups"] for number in group["params"])
    current = ((parameter, group["capturable"]) for group in optimizer.param_groups for parameter in group["params"])
    for index, (number, (parameter, capturable)) in enumerate(zip(saved, current, strict=True)):
        if number in loaded["state"]:
            state = dict.fromkeys(INTEGERS, 0) | {"index": index} | loaded["state"][number]
            optimizer.state[parameter] = place_counts(state, parameter.device, capturable) | {
                key: own(value).to(parameter.device, copy=True) for key, value in state.items() if key not in INTEGERS
            }


def _restore_rates(groups: Sequence[dict[str, Any]], rates: Sequence[float | Tensor]) -> None:
    """Write the loaded rates into the tensors that stood there before."""
    taken: dict[int, float] = {}
    for group, rate in zip(groups, rates, strict=True):
        if isinstance(rate, Tensor):
            value = float(group["lr"])
            if taken.setdefault(id(rate), value) != value:  # groups of one tensor were saved with several rates
                rate = rate.clone()
            group["lr"] = rate.fill_(value)
