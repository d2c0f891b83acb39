import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from model import checkpoint


def test_a_checkpoint_comes_back_with_its_config_and_version(tmp_path):
    state = {"b": torch.randn(3, 2), "a": torch.arange(4), "h": torch.randn(2).half()}
    version = checkpoint.save(tmp_path / "x.safetensors", state, {"width": 3})
    loaded = checkpoint.load(tmp_path / "x.safetensors")
    assert loaded.version == version and len(version) == 64 and loaded.config == {"width": 3}
    assert all(torch.equal(loaded.state[name], tensor) for name, tensor in state.items())
    assert [path.name for path in tmp_path.iterdir()] == ["x.safetensors"]  # no temporary file stays


def test_the_version_follows_the_content(tmp_path):
    state = {"a": torch.arange(4.0)}
    first = checkpoint.save(tmp_path / "1", state, {"width": 3})
    assert checkpoint.save(tmp_path / "2", state, {"width": 3}) == first
    assert checkpoint.save(tmp_path / "3", state, {"width": 4}) != first
    assert checkpoint.save(tmp_path / "4", {"a": torch.arange(4.0) + 1e-6}, {"width": 3}) != first


def test_a_changed_checkpoint_is_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    checkpoint.save(path, {"a": torch.zeros(64)}, {})
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="does not match its content hash"):
        checkpoint.load(path)


def test_what_is_no_checkpoint_is_refused_with_a_sentence(tmp_path):
    path = tmp_path / "x.safetensors"
    with pytest.raises(ValueError, match="no checkpoint"):
        checkpoint.load(path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match="not a readable safetensors file"):
        checkpoint.load(path)
    save_file({"a": torch.zeros(1)}, path)
    with pytest.raises(ValueError, match="no config or content hash"):
        checkpoint.load(path)


def test_a_failed_write_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    path = tmp_path / "x.safetensors"
    version = checkpoint.save(path, {"a": torch.ones(2)}, {})
    monkeypatch.setattr("model.checkpoint.os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        checkpoint.save(path, {"a": torch.zeros(2)}, {})
    assert checkpoint.load(path).version == version
    assert len(list(tmp_path.iterdir())) == 1


def test_halving_keeps_integers_and_rounds_floats(tmp_path):
    half = checkpoint.to_float16({"a": torch.tensor([0.1]), "i": torch.tensor([3])})
    assert half["a"].dtype == torch.float16 and half["i"].dtype == torch.int64
    checkpoint.save(tmp_path / "x", half, {})
    assert np.isclose(load_file(tmp_path / "x")["a"].item(), 0.1, atol=1e-4)


def test_equal_checkpoints_are_equal_files(tmp_path):
    state = {name: torch.arange(12.0).reshape(3, 4) for name in ("a", "b", "c")}
    files = []
    for number in range(8):  # safetensors orders metadata anew each time
        checkpoint.save(tmp_path / f"{number}.safetensors", state, {"width": 4})
        files.append((tmp_path / f"{number}.safetensors").read_bytes())
    assert len(set(files)) == 1
