"""Documents without labels, as pretraining learns from them: read once, kept, split, near-duplicates together."""
