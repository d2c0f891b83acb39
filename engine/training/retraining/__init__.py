"""One retraining: from accepted answers to a challenger that the gate has judged.

`run` drives it and resumes it, `learner` teaches, `judging` compares with the champion, `gate` decides (pure).
"""
