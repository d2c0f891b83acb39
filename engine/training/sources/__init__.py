"""Where a run takes its examples from: snapshots, generated pages, regions of rendered pages.

`corpus` reads a snapshot, `examples` turns grounded pages into examples and mixes sources step by step.
"""
