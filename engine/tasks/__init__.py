"""Tasks: standard questions asked of documents.

- `opening`: which tasks there are, and their order: what follows from documents, questions and settings.
- `queue`: who does what next.
- `review`: answers that wait for a verdict, and verdicts.
- `task_status` is the query behind both queues; the states themselves are stored with the tasks (`db/task_states.py`).
"""
