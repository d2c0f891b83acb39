"""Generated documents with questions, answers and exact boxes."""

from engine.synthetic.assemble import SyntheticPage
from engine.synthetic.corpus import KINDS, generate, generate_kind

__all__ = ["KINDS", "SyntheticPage", "generate", "generate_kind"]
