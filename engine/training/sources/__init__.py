"""Sources of training examples: snapshots, generated pages, regions of rendered pages.

`corpus` reads a snapshot, `examples` converts grounded pages to examples and mixes sources step by step.
"""
