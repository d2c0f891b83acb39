"""Evaluation of a model on pages with known answers, compared with a lexical baseline.

`evaluate` asks, `metrics` scores (pure), `metric_intervals` and `bootstrap` estimate confidence intervals, `report/`
draws them.
"""
