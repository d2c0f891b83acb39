"""Learning: retraining from corrections, evaluation, pretraining, and where examples come from.

`retraining/` runs and judges, `evaluation/` measures, `pretraining/` makes weights, `sources/` and `augmentation/` make examples.
"""
