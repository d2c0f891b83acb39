"""Statuses of answers, states of tasks, and splits of documents.

This module imports nothing, so that every module may use it.

An answer is a draft, then submitted; a reviewer accepts, fixes or rejects it. Without review, submitting accepts it.
The state of a task follows from its answers (db.task_states).
"""

SUBMITTED = "submitted"  # an answer, and a task that is fully answered: waits for a verdict
ACCEPTED = ("accepted", "fixed")  # statuses of labels; fixed: accepted after the reviewer changed it
ANSWERED = (SUBMITTED, *ACCEPTED)  # statuses that count as an answer
REMOVED = "removed"  # status of an answer that counts nowhere until it is restored (engine.queries.not_removed)

OPEN = "open"  # a task that needs answers, and has none
PARTLY = "partly"  # a task that needs answers of several people, and has some
RETURNED = "returned"  # a task that only needs rejected answers again, which their authors fix
WAITING = (OPEN, PARTLY, RETURNED)  # states of tasks that need answers
DONE = "done"  # a task of which as many answers are accepted as are wanted
SKIPPED = "skipped"  # a task that somebody could not answer: waits for a reviewer
DISMISSED = "dismissed"  # a task that cannot be answered, as a reviewer has confirmed
CLOSED = "closed"  # a task whose question is no longer a standard one
NEW = ""  # a task that is not counted yet: a row that no unit of work has refreshed

AUTOMATIC = "automatic"  # an unreviewed, auto-accepted answer in datasets; its task, not drawn for a check

TRAIN = "train"  # split of training documents
SPLITS = (TRAIN, "recent", "frozen")  # all splits; recent and frozen are holdouts
