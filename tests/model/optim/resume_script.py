"""Goes on with the runs in FOLDER/begun.pt and saves where they end. `resume_script.py FOLDER FROM TO`."""

import sys
from pathlib import Path

import torch
from torch.optim.lr_scheduler import OneCycleLR

from model.optim import NaturalGradient
from tests.support.optimizer_problems import copied, network, train


def main(folder: Path, start: int, end: int) -> None:
    torch.set_num_threads(1)
    ended = {}
    for name, run in torch.load(folder / "begun.pt", weights_only=True).items():
        layers = network(run["layers"]["0.weight"].dtype)
        optimizer = NaturalGradient(layers.parameters())
        schedule = OneCycleLR(optimizer, max_lr=1.0, total_steps=end)
        for part, state in ((layers, run["layers"]), (optimizer, run["optimizer"]), (schedule, run["schedule"])):
            part.load_state_dict(state)
        train(layers, optimizer, range(start, end), schedule)
        ended[name] = copied(optimizer, list(layers.parameters()))
    torch.save(ended, folder / "ended.pt")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
