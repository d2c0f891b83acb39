"""Wear of paper, scanners, faxes and cameras; changes grey values only, so boxes stay exact."""

from __future__ import annotations

import io
import random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

Pixels = NDArray[np.float32]  # [H, W, 3] 0..255


def apply_wear(image: Image.Image, rng: random.Random) -> Image.Image:
    """Apply one random way of copying, from none to a bad fax."""
    noise = np.random.default_rng(rng.getrandbits(64))
    way = rng.choices((_leave_clean, _grey_scan, _black_and_white, _fax, _photograph), (0.14, 0.28, 0.28, 0.12, 0.18))[
        0
    ]
    return way(image, rng, noise)


def _leave_clean(image: Image.Image, rng: random.Random, noise: np.random.Generator) -> Image.Image:
    return image


def _grey_scan(image: Image.Image, rng: random.Random, noise: np.random.Generator) -> Image.Image:
    if rng.random() < 0.7:
        image = image.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 0.9)))
    pixels = _pixels(image)
    if rng.random() < 0.6:
        pixels = np.repeat(pixels.mean(axis=2, keepdims=True), 3, axis=2)
    pixels = _fade(pixels, rng)
    pixels *= np.array([1.0, rng.uniform(0.97, 1.0), rng.uniform(0.9, 1.0)], np.float32)
    pixels = _shade(pixels, rng, 0.12)
    pixels += noise.normal(0, rng.uniform(1, 7), pixels.shape[:2]).astype(np.float32)[..., None]
    return _through_jpeg(_image(_specks(pixels, rng, noise, 255)), rng)


def _black_and_white(image: Image.Image, rng: random.Random, noise: np.random.Generator) -> Image.Image:
    """Threshold, with broken and swollen strokes, specks and dark edges, like archives."""
    grey = image.convert("L").filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 0.8)))
    pixels = np.asarray(grey, np.float32)
    pixels = pixels + noise.normal(0, rng.uniform(6, 24), pixels.shape).astype(np.float32)
    level = rng.uniform(130, 195)
    plain = np.where(pixels > level, 255.0, 0.0).astype(np.float32)[..., None].repeat(3, axis=2)
    plain = _specks(plain, rng, noise, 255)
    if rng.random() < 0.25:
        plain = _dark_edge(plain, rng, noise)
    return (
        Image.fromarray(plain.astype(np.uint8))
        if rng.random() < 0.5
        else _image(plain).filter(ImageFilter.GaussianBlur(0.5))
    )


def _fax(image: Image.Image, rng: random.Random, noise: np.random.Generator) -> Image.Image:
    """Reduce the lines, threshold, and enlarge again."""
    factor = rng.uniform(1.2, 1.8)
    small = image.convert("L").resize(
        (max(1, round(image.width / (factor * 0.8))), max(1, round(image.height / factor))), Image.Resampling.BOX
    )
    pixels = np.asarray(small, np.float32)
    pixels = pixels + noise.normal(0, 14, pixels.shape).astype(np.float32)
    coarse = Image.fromarray(np.where(pixels > rng.uniform(150, 205), 255, 0).astype(np.uint8))
    return coarse.resize(image.size, Image.Resampling.BILINEAR).convert("RGB")


def _photograph(image: Image.Image, rng: random.Random, noise: np.random.Generator) -> Image.Image:
    image = image.filter(ImageFilter.GaussianBlur(rng.uniform(0.4, 1.3)))
    pixels = _shade(_fade(_pixels(image), rng), rng, 0.35)
    warm = rng.uniform(-0.06, 0.06)
    pixels *= np.array([1 + warm, 1.0, 1 - warm], np.float32)
    pixels += noise.normal(0, rng.uniform(2, 9), pixels.shape).astype(np.float32)
    return _through_jpeg(_image(pixels), rng)


def _pixels(image: Image.Image) -> Pixels:
    return np.asarray(image, np.float32).copy()


def _image(pixels: Any) -> Image.Image:
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def _fade(pixels: Pixels, rng: random.Random) -> Pixels:
    """Reduce contrast: grey paper, pale ink."""
    ink, paper = rng.uniform(0, 70), rng.uniform(215, 255)
    return ink + pixels * ((paper - ink) / 255)


def _shade(pixels: Pixels, rng: random.Random, most: float) -> Pixels:
    """Add light that falls from one side."""
    height, width = pixels.shape[:2]
    across = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    down = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    light = 1 - most * 0.5 * (1 + rng.uniform(-1, 1) * across * 0.5 + rng.uniform(-1, 1) * down * 0.5) * rng.random()
    return np.asarray(pixels * light[..., None], np.float32)


def _specks(pixels: Pixels, rng: random.Random, noise: np.random.Generator, paper: int) -> Pixels:
    """Add dust: dark specks on the paper, light ones in the ink."""
    height, width = pixels.shape[:2]
    for count, grey in ((round(70 * rng.random() ** 2), 20), (round(30 * rng.random()), paper)):
        ys, xs = noise.integers(0, height - 2, count), noise.integers(0, width - 2, count)
        size = noise.integers(1, 3, count)
        for y, x, side in zip(ys, xs, size, strict=True):
            pixels[y : y + side, x : x + side] = grey
    return pixels


def _dark_edge(pixels: Pixels, rng: random.Random, noise: np.random.Generator) -> Pixels:
    """Add the shadow of a fold or a crooked page at one edge."""
    height, width = pixels.shape[:2]
    depth = max(4, round(width * rng.uniform(0.01, 0.035)))
    odds = np.linspace(1.0, 0.0, depth, dtype=np.float32) ** rng.uniform(0.5, 3)
    dark = noise.random((height, depth)) < odds[None, :]
    if rng.random() < 0.5:
        pixels[:, :depth][dark] = 0
    else:
        pixels[:, width - depth :][dark[:, ::-1]] = 0
    return pixels


def _through_jpeg(image: Image.Image, rng: random.Random) -> Image.Image:
    if rng.random() < 0.5:
        return image
    stored = io.BytesIO()
    image.save(stored, "JPEG", quality=rng.randint(35, 90))
    stored.seek(0)
    return Image.open(stored).convert("RGB")
