"""Retraining: from accepted answers to a challenger that the gate has judged.

`trigger` (count, age) and `schedule` (crontab) request runs. `trigger_history` records each request, `trigger_status`
shows the distance to the next one. `run` drives and resumes a run, `learner` trains, `judging` compares with the
champion, `gate` decides (pure), and `cleanup` deletes what finished runs leave behind.
"""
