"""Datasets: accepted answers as labels, with their weight and fitness, frozen as snapshots.

`labels` chooses, `quality` and `weights` judge, `snapshots` freezes into a `manifest`; training and exports read only that.
"""
