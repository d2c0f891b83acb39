"""Retraining: from accepted answers to a challenger that the gate has judged.

`trigger` (count, age) and `schedule` (clock) ask for a run; `firings` records each occasion, `trigger_status` shows
how near it is. `run` drives it and resumes it, `learner` teaches, `judging` compares with the champion, `gate`
decides (pure), `sweep` tidies up.
"""
