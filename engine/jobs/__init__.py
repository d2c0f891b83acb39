"""Background work: a queue in the database, leases, one worker a process. Handlers are handed in.

`queue` stores jobs, `worker` does them, `cancellation` stops them; nothing here knows what a job does.
"""
