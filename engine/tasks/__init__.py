"""Tasks: standard questions asked of documents, the queue, and reviews.

`queue` leases the next task, `review_queue` the next answer to review, `review` stores a verdict. `task_status` is the
query behind both queues.
"""
