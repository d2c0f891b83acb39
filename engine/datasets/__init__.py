"""Datasets: accepted answers as labels, with weight and quality checks, frozen as snapshots.

`labels` chooses, `quality` and `weights` judge, `snapshots` freezes into a `manifest`. Training and exports read
manifests only.
"""
