"""Weights travel in parts: what is joined equals what was split, and damage is named."""

import pytest

from model.checkpoint_parts import join_parts, split_file


@pytest.fixture
def listed(tmp_path):
    path = tmp_path / "w.safetensors"
    path.write_bytes(bytes(range(256)) * 10)
    return split_file(path, tmp_path / "parts", most_bytes=1000)


def test_joined_parts_equal_the_file(listed, tmp_path):
    parts = sorted(path for path in listed.parent.iterdir() if path != listed)
    assert [path.stat().st_size for path in parts] == [1000, 1000, 560]
    assert join_parts(listed).read_bytes() == (tmp_path / "w.safetensors").read_bytes()


def test_a_smaller_file_leaves_no_parts_of_an_older_one(listed, tmp_path):
    (tmp_path / "w.safetensors").write_bytes(b"short")
    split_file(tmp_path / "w.safetensors", listed.parent, most_bytes=1000)
    assert len(list(listed.parent.iterdir())) == 2
    assert join_parts(listed).read_bytes() == b"short"


def test_missing_and_damaged_parts_are_named_and_nothing_is_written(listed, tmp_path):
    part = listed.parent / "w.safetensors.001"
    content = part.read_bytes()
    part.write_bytes(b"x" + content[1:])
    with pytest.raises(ValueError, match=r"001 is damaged"):
        join_parts(listed, tmp_path / "joined")
    part.unlink()
    with pytest.raises(ValueError, match=r"001 is missing"):
        join_parts(listed, tmp_path / "joined")
    assert not (tmp_path / "joined").exists() and not list(tmp_path.glob(".joined*"))


def test_another_file_is_no_list(tmp_path):
    (tmp_path / "list.json").write_text("[]")
    with pytest.raises(ValueError, match="not the list"):
        join_parts(tmp_path / "list.json")
