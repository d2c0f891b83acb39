"""The work that is handed out: standard questions, the queue, reviews.

`queue` leases the next task, `review_queue` the next answer to judge, `review` stores a verdict; `task_status` is the
query behind both.
"""
