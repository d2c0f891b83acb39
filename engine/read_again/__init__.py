"""Reading again: stored pages go through OCR again, and answers keep their words or are put up for a review."""
