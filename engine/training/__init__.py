"""Training: retraining from corrections, evaluation, pretraining, and sources of examples.

`retraining/` trains and judges challengers, `evaluation/` measures, `pretraining/` makes weights. `sources/` and
`augmentation/` make examples.
"""
