"""Statistics for project admins: throughput, agreement, gain of selection, depth of the queue.

Read-only. `intervals` estimates confidence intervals.
"""
