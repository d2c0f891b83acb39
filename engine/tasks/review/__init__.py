"""Reviews: `review_queue` leases the next answer to review, `verdicts` stores a verdict."""
