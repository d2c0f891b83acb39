"""Describe how proposals fit the kind of value that is wanted, by a field's type or by the wording of the question."""

from collections.abc import Sequence

import numpy as np

from model.kind_shapes import fits_of
from model.kinds import KINDS, Kind
from model.layout import Floats, Layout
from model.ranking.proposals import Proposal

_PER_SOURCE = len(KINDS) + 3  # the wanted kind, the fit to it, that relative to the best rival, whether the best fits
KIND_FEATURES = len(KINDS) + 2 * _PER_SOURCE
# Columns of the kind that a type wants, all 0 where none is known. Wording alone gained nothing (docs/LOG.md).
WANTED = list(range(len(KINDS), 2 * len(KINDS)))
_WELL = 0.6  # fit of a proposal that is worth waiting for


def fits_of_proposals(layout: Layout, proposals: Sequence[Proposal]) -> Floats:
    """Return how well the text of each proposal fits each kind, [P, KINDS], 0..1."""
    texts = layout.texts
    fits = [fits_of(" ".join(texts[word] for word in proposal.words)) for proposal in proposals]
    return np.array(fits, np.float32).reshape(-1, len(KINDS))


def kind_features(fits: Floats, typed: Kind | None, worded: Kind | None) -> Floats:
    """Describe the fit of the proposals of one question.

    Args:
        fits: of each proposal to each kind, [P, KINDS].
        typed: kind by the type of a field; None where none is known.
        worded: kind by the wording of the question; None where it does not tell.

    Returns:
        [P, KIND_FEATURES]; the columns of an unknown kind are 0.
    """
    return np.concatenate([fits, _fit_to(fits, typed), _fit_to(fits, worded)], 1)


def _fit_to(fits: Floats, wanted: Kind | None) -> Floats:
    columns = np.zeros((len(fits), _PER_SOURCE), np.float32)
    if wanted is not None and len(fits):
        at = KINDS.index(wanted)
        own = fits[:, at]
        columns[:, at] = 1
        columns[:, len(KINDS)] = own
        columns[:, len(KINDS) + 1] = own - own.max()
        columns[:, len(KINDS) + 2] = float(own.max()) > _WELL
    return columns
