"""The mask decoder against a slow reference: loops over heads, tokens and pixels, nothing batched, double precision.

Written from Segment Anything (https://arxiv.org/abs/2304.02643, appendix A, "Lightweight mask decoder") and SAM 2
(https://arxiv.org/abs/2408.00714, appendix "Mask decoder"). Where the decoder departs from them, so does the reference:

- the words of the page, as the question sees them, are spread over the cells they cover, and each cell is told where it
  stands from the words that look like the key (SAM has no words);
- prompt tokens come after the word head has seen them;
- the first self-attention has the tokens' own embedding added as the later ones have (SAM leaves it out there);
- perceptrons have GELU for ReLU, and the hypernetworks and the IoU head two layers for three;
- another token makes a box with its own hypernetworks: its position from the finest map, the distances to its edges
  from a 3 x 3 convolution of that map.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from model.encoders.image import ImageFeatures
from model.examples import Prompt
from model.heads.mask_decoder import TwoWayLayer, beside_runs
from model.inputs import batch_pages, batch_questions, prepare_page
from tests.support.drawn_pages import SIZE, page_image, page_words

W = dict[str, np.ndarray]


def linear(w: W, name: str, x: np.ndarray) -> np.ndarray:
    return np.array([w[f"{name}.weight"] @ row + w[f"{name}.bias"] for row in x])


def gelu(x: np.ndarray) -> np.ndarray:
    return np.array([value * 0.5 * (1 + math.erf(value / math.sqrt(2))) for value in x.ravel()]).reshape(x.shape)


def perceptron(w: W, name: str, x: np.ndarray) -> np.ndarray:
    return linear(w, f"{name}.2", gelu(linear(w, f"{name}.0", x)))


def norm(w: W, name: str, x: np.ndarray) -> np.ndarray:
    rows = [(row - row.mean()) / math.sqrt(((row - row.mean()) ** 2).mean() + 1e-5) for row in x]
    return np.array(rows) * w[f"{name}.weight"] + w[f"{name}.bias"]


def attention(w: W, name: str, heads: int, q_in, k_in, v_in, valid) -> np.ndarray:
    """Only keys that are valid are looked at."""
    q, k, v = linear(w, f"{name}.q", q_in), linear(w, f"{name}.k", k_in), linear(w, f"{name}.v", v_in)
    width = q.shape[1] // heads
    out = np.zeros_like(q)
    for head in range(heads):
        part = slice(head * width, (head + 1) * width)
        for row in range(len(q)):
            scores = [q[row, part] @ k[key, part] / math.sqrt(width) for key in range(len(k)) if valid[key]]
            powers = np.exp(np.array(scores) - max(scores))
            values = [v[key, part] for key in range(len(k)) if valid[key]]
            out[row, part] = sum(p * value for p, value in zip(powers / powers.sum(), values, strict=True))
    return linear(w, f"{name}.out", out)


def two_way(w: W, name: str, heads: int, tokens, image, token_places, image_places, valid):
    """SAM's four steps: tokens among themselves, tokens to image, perceptron, image to tokens; a norm after each."""
    every = [True] * len(image)
    q = tokens + token_places
    tokens = norm(w, f"{name}norms.0", tokens + attention(w, f"{name}among", heads, q, q, tokens, valid))
    seen = attention(w, f"{name}to_tokens", heads, tokens + token_places, image + image_places, image, every)
    tokens = norm(w, f"{name}norms.1", tokens + seen)
    tokens = norm(w, f"{name}norms.2", tokens + perceptron(w, f"{name}mlp", tokens))
    told = attention(w, f"{name}to_image", heads, image + image_places, tokens + token_places, tokens, valid)
    return tokens, norm(w, f"{name}norms.3", image + told)


def doubled(w: W, name: str, x: np.ndarray) -> np.ndarray:
    """Transposed convolution 2 x 2 with stride 2 of [C, h, w]: each pixel paints four of its own."""
    kernel, bias = w[f"{name}.weight"], w[f"{name}.bias"]
    out = np.zeros((kernel.shape[1], 2 * x.shape[1], 2 * x.shape[2]))
    for y in range(x.shape[1]):
        for at in range(x.shape[2]):
            for dy in range(2):
                for dx in range(2):
                    out[:, 2 * y + dy, 2 * at + dx] = x[:, y, at] @ kernel[:, :, dy, dx] + bias
    return out


def convolved(w: W, name: str, x: np.ndarray, apart: int = 1) -> np.ndarray:
    """Convolution 3 x 3 of [C, h, w], nothing beyond the edges; its taps ``apart`` cells from each other."""
    kernel, bias = w[f"{name}.weight"], w[f"{name}.bias"]
    out = np.zeros((len(kernel), *x.shape[1:]))
    padded = np.pad(x, ((0, 0), (apart, apart), (apart, apart)))
    reach = 2 * apart + 1
    for y in range(x.shape[1]):
        for at in range(x.shape[2]):
            seen = padded[:, y : y + reach : apart, at : at + reach : apart]
            out[:, y, at] = (kernel * seen).sum((1, 2, 3)) + bias
    return out


def twice_as_fine(x: np.ndarray) -> np.ndarray:
    """[C, h, w] -> [C, 2 h, 2 w]: linear between the centres of cells, constant beyond the outermost ones."""
    for axis in (1, 2):
        count = x.shape[axis]
        at = np.clip((np.arange(2 * count) + 0.5) / 2 - 0.5, 0, count - 1)
        low = np.minimum(at.astype(int), count - 1)
        high = np.minimum(low + 1, count - 1)
        share = (at - low).reshape([-1 if one == axis else 1 for one in range(3)])
        x = np.take(x, low, axis) * (1 - share) + np.take(x, high, axis) * share
    return x


def covered(box, row: int, column: int, step: float) -> float:
    """Share of a cell that a box covers."""
    x0, y0, x1, y1 = (value / step for value in box)
    across = min(x1, column + 1) - max(x0, column)
    down = min(y1, row + 1) - max(y0, row)
    return max(across, 0) * max(down, 0)


def reference(w: W, heads: int, layers: int, page: int, row: int, given: dict, pages, questions):
    """One question on one page: masks [4, H, W], IoU [4], answered, place [H, W], edges [4, H, W], IoU of the box."""
    coarse = given["coarse"][page]
    width, high, wide = coarse.shape
    step = 1 / max(high, wide)
    words = linear(w, "spread", norm(w, "norm_words", given["words"][row]))
    coarse = norm(w, "norm_image.norm", coarse.reshape(width, -1).T).T.reshape(coarse.shape)
    image = np.zeros((high * wide, width))
    beside = perceptron(w, "beside", given["beside"][row])
    for y in range(high):
        for x in range(wide):
            cell = y * wide + x
            image[cell] = coarse[:, y, x] + given["dense"][row][:, y, x] + beside[cell]
            for word in range(len(words)):
                if pages.valid[page, word]:
                    image[cell] += covered(pages.unit_boxes[page, word].tolist(), y, x, step) * words[word]
    tokens = np.concatenate(
        [w["iou_token"], w["mask_tokens"], w["answered_token"], w["box_token"], given["tokens"][row]]
    )
    places, valid = tokens, [True] * 7 + given["valid"][row].tolist()
    for number in range(layers):
        tokens, image = two_way(w, f"layers.{number}.", heads, tokens, image, places, given["places"], valid)
    last = attention(w, "last", heads, tokens + places, image + given["places"], image, [True] * len(image))
    tokens = norm(w, "norm", tokens + last)
    fine = doubled(w, "up8", image.T.reshape(width, high, wide)) + given["skip8"][page]
    shape = fine.shape
    eighth = gelu(norm(w, "norm8.norm", fine.reshape(shape[0], -1).T)).T.reshape(shape)
    fine = gelu(doubled(w, "up4", eighth) + given["skip4"][page])
    masks = np.zeros((4, *fine.shape[1:]))
    for mask in range(4):
        weights = perceptron(w, f"to_weights.{mask}", tokens[1 + mask : 2 + mask])[0]
        for y in range(fine.shape[1]):
            for x in range(fine.shape[2]):
                masks[mask, y, x] = weights @ fine[:, y, x]
    iou = 1 / (1 + np.exp(-perceptron(w, "iou", tokens[:1])[0]))
    place_weights = perceptron(w, "to_place", tokens[6:7])[0]
    edge_weights = perceptron(w, "to_edges", tokens[6:7])[0].reshape(4, -1)
    around = gelu(convolved(w, "around", fine))
    afar = gelu(convolved(w, "afar.2", gelu(convolved(w, "afar.0", eighth)), apart=2))
    far_weights = perceptron(w, "to_far_edges", tokens[6:7])[0].reshape(4, -1)
    far = twice_as_fine(np.einsum("ec,chw->ehw", far_weights, afar))
    place, edges = np.zeros(fine.shape[1:]), np.zeros((4, *fine.shape[1:]))
    for y in range(fine.shape[1]):
        for x in range(fine.shape[2]):
            place[y, x] = place_weights @ fine[:, y, x]
            logs = edge_weights[:, :-1] @ around[:, y, x] + edge_weights[:, -1] + far[:, y, x]
            left, up, right, down = np.exp(np.clip(logs, -4, 7))
            edges[:, y, x] = x + 0.5 - left, y + 0.5 - up, x + 0.5 + right, y + 0.5 + down
    box_iou = 1 / (1 + np.exp(-perceptron(w, "box_iou", tokens[6:7])[0, 0]))
    return masks, iou, perceptron(w, "answered", tokens[5:6])[0, 0], place, edges, box_iou


def weights_of(module) -> W:
    return {name: tensor.double().numpy() for name, tensor in module.state_dict().items()}


def test_the_two_way_layer_follows_the_paper():
    torch.manual_seed(0)
    layer = TwoWayLayer(16, 4).double()
    for parameter in layer.parameters():  # norms too, which begin as nothing
        torch.nn.init.normal_(parameter, std=0.4)
    tokens, places, image, image_places = (torch.randn(1, n, 16, dtype=torch.float64) for n in (5, 5, 12, 12))
    mask = torch.zeros(1, 1, 1, 5, dtype=torch.float64)
    mask[..., 3] = -1e4
    with torch.no_grad():
        found = layer(tokens, image, places, image_places, mask)
    t, i, p, q = (x[0].numpy() for x in (tokens, image, places, image_places))
    wanted = two_way(weights_of(layer), "", 4, t, i, p, q, [True, True, True, False, True])
    for one, other in zip(found, wanted, strict=True):
        assert np.abs(one[0].numpy() - other).max() < 1e-10


@pytest.fixture
def asked(network, vocabulary):
    """A page that is not square, two questions of different length, one with a click and a box."""
    config = replace(network.config, image=replace(network.config.image, long_side=64))
    page = prepare_page(page_words(), SIZE, page_image(), vocabulary, config)
    prompts = [
        Prompt("total due", points=((460.0, 370.0, True),), box=(300, 300, 590, 500)),
        Prompt("the invoice number?"),
    ]
    return batch_pages([page]), batch_questions([page], [prompts], vocabulary, config)


def test_the_mask_decoder_follows_the_papers(network, asked):
    pages, questions = asked
    decoder = network.mask_decoder.double()
    torch.manual_seed(5)
    for parameter in decoder.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    high, wide, width = pages.image.shape[2] // 16, pages.image.shape[3] // 16, network.config.width
    draw = lambda *shape: torch.randn(*shape, dtype=torch.float64)  # noqa: E731
    tokens_each, words = 9, pages.valid.shape[1]
    valid = torch.arange(tokens_each)[None] < torch.tensor([[9], [4]])
    coarse, skip8, skip4 = (
        draw(1, width, high, wide),
        draw(1, width // 4, 2 * high, 2 * wide),
        draw(1, width // 8, 4 * high, 4 * wide),
    )
    places, dense = draw(high * wide, width), draw(2, width, high, wide)
    states, tokens = draw(2, words, width), draw(2, tokens_each, width)
    pages = replace(pages, unit_boxes=pages.unit_boxes.double(), line_height=pages.line_height.double())
    questions = replace(questions, runs=questions.runs.double())
    step = 1 / max(high, wide)
    torch.set_default_dtype(torch.float64)  # masks and grids that the decoder makes itself
    try:
        with torch.no_grad():
            beside = beside_runs(questions.runs, pages.line_height, high, wide, step)
            found = decoder(
                ImageFeatures(coarse, skip8, skip4), places, states, tokens, valid, dense,
                pages, questions,
            )  # fmt: skip
    finally:
        torch.set_default_dtype(torch.float32)
    tensors = {
        "coarse": coarse, "skip8": skip8, "skip4": skip4, "places": places, "dense": dense, "words": states,
        "tokens": tokens, "valid": valid, "beside": beside,
    }  # fmt: skip
    given = {name: tensor.numpy() for name, tensor in tensors.items()}
    for row in range(2):
        masks, iou, answered, place, edges, box_iou = reference(
            weights_of(decoder), network.config.heads, network.config.mask_layers, 0, row, given, pages, questions
        )
        assert np.abs(masks).max() > 0.1
        assert np.abs(found.logits[row].numpy() - masks).max() < 1e-10 * max(1, np.abs(masks).max())
        assert np.abs(found.iou[row].numpy() - iou).max() < 1e-10
        assert abs(found.answered[row].item() - answered) < 1e-10
        assert np.abs(found.place[row].numpy() - place).max() < 1e-10 * max(1, np.abs(place).max())
        assert np.abs(found.edges[row].numpy() - edges).max() < 1e-9 * max(1, np.abs(edges).max())
        assert abs(found.box_iou[row].item() - box_iou) < 1e-10
