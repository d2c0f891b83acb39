"""The queue: `next_task` leases the next task to a person, `candidates` says which may come, `queue_view` counts."""
