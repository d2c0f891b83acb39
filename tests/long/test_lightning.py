"""Lightning's Trainer takes the optimizer, with its schedulers, clipping and checkpoints."""

from pathlib import Path
from typing import Any

import pytest
import pytorch_lightning as lightning
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from model.optim import NaturalGradient, parameter_groups


class Regression(lightning.LightningModule):  # type: ignore[misc, unused-ignore]
    def __init__(self, mode: str) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.mode = mode
        self.layers = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))

    def training_step(self, batch: list[Tensor], index: int) -> Tensor:
        inputs, labels = batch
        return (self.layers(inputs) - labels).square().mean()

    def configure_optimizers(self) -> Any:
        optimizer = NaturalGradient.from_mode(parameter_groups(self), self.mode, lr=0.02)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 8)]


def data() -> DataLoader[Any]:
    inputs = torch.randn(32, 6, generator=torch.Generator().manual_seed(5))
    return DataLoader(TensorDataset(inputs, inputs[:, :2].sin()), batch_size=8)


def trained(folder: Path, mode: str, epochs: int, checkpoint: Path | None = None) -> dict[str, Tensor]:
    quiet: dict[str, Any] = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(
        default_root_dir=folder,
        max_epochs=epochs,
        accelerator="cpu",
        gradient_clip_val=1.0,
        enable_checkpointing=False,
        **quiet,
    )
    module = Regression(mode)
    trainer.fit(module, data(), ckpt_path=None if checkpoint is None else str(checkpoint), weights_only=True)
    trainer.save_checkpoint(folder / f"{epochs}.ckpt")
    return module.state_dict()


@pytest.mark.parametrize("mode", ["whole", "blocks"])
def test_a_run_that_lightning_resumes_ends_as_one_without_a_stop(mode: str, tmp_path: Path) -> None:
    whole = trained(tmp_path, mode, 8)
    trained(tmp_path, mode, 3)
    resumed = trained(tmp_path, mode, 8, tmp_path / "3.ckpt")
    begun = Regression(mode).state_dict()
    for name, value in whole.items():
        assert not torch.equal(value, begun[name])
        assert torch.equal(resumed[name], value), name
