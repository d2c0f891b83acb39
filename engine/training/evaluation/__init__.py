"""Measuring a model on pages whose answers are known, beside a lexical baseline.

`evaluate` asks, `metrics` scores (pure), `confidence_intervals` and `bootstrap` say how sure a figure is, `report/` draws it.
"""
