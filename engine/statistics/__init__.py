"""Figures for data leads: throughput, agreement of people and model, gain of selection, depth of the queue.

Read-only. Interval estimates stand in `intervals`.
"""
