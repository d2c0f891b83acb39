"""The optimizer alone, and in the hands of timm's schedulers and of transformers' Trainer."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from timm.scheduler.cosine_lr import CosineLRScheduler
from torch import Tensor, nn
from torch.utils.data import Dataset

from model.optim import NaturalGradient, parameter_groups


class Regression(nn.Module):
    """Two layers; `forward` returns the loss, as Trainer wants it."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.layers = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, inputs: Tensor, labels: Tensor) -> dict[str, Tensor]:
        return {"loss": (self.layers(inputs) - labels).square().mean()}


class Points(Dataset[dict[str, Tensor]]):
    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(5)
        self.inputs = torch.randn(32, 6, generator=generator)
        self.labels = self.inputs[:, :2].sin()

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, at: int) -> dict[str, Tensor]:
        return {"inputs": self.inputs[at], "labels": self.labels[at]}


def test_importing_it_imports_nothing_of_the_rest_of_the_project() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, model.optim; print(*{name.partition('.')[0] for name in sys.modules})"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert {"model", "torch"} <= set(loaded)
    assert not {"engine", "db", "annotator", "sqlalchemy", "gradio", "transformers", "timm", "tensorly", "scipy"} & set(
        loaded
    )


@pytest.mark.parametrize("mode", ["blocks", "whole"])
def test_timms_scheduler_sets_the_rates_of_all_groups(mode: str) -> None:
    network, points = Regression(), Points()
    groups = parameter_groups(network)
    groups[0]["lr"] = 0.04
    optimizer = NaturalGradient.from_mode(groups, mode, lr=0.01)
    scheduler = CosineLRScheduler(optimizer, t_initial=30, lr_min=1e-4, warmup_t=3, warmup_lr_init=1e-5)
    losses, rates = [], []
    for step in range(30):
        scheduler.step(step)
        rates.append([group["lr"] for group in optimizer.param_groups])
        optimizer.zero_grad()
        loss = network(points.inputs, points.labels)["loss"]
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert rates[0] == [1e-5, 1e-5]
    assert rates[3] == pytest.approx([0.04, 0.01], rel=0.05)
    assert max(rates[29]) < 0.001
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.parametrize("mode", ["blocks", "whole"])
def test_transformers_trainer_learns_with_it_and_resumes_to_the_bit(mode: str, tmp_path: Path) -> None:
    from transformers import Trainer, TrainingArguments

    def trained(folder: Path, resume: str | None = None) -> Regression:
        network = Regression()
        given = TrainingArguments(
            output_dir=str(folder),
            max_steps=12,
            per_device_train_batch_size=8,
            save_steps=6,
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
            seed=3,
        )
        optimizer = NaturalGradient.from_mode(parameter_groups(network), mode, lr=0.05)
        trainer = Trainer(network, given, train_dataset=Points(), optimizers=(optimizer, None))
        trainer.train(resume_from_checkpoint=resume)
        return network

    def loss(network: Regression) -> float:
        points = Points()
        return float(network(points.inputs, points.labels)["loss"].detach())

    whole = trained(tmp_path / "whole")
    assert loss(whole) < 0.7 * loss(Regression())
    rest = trained(tmp_path / "rest", str(tmp_path / "whole" / "checkpoint-6")).state_dict()
    assert all(torch.equal(value, rest[name]) for name, value in whole.state_dict().items())
