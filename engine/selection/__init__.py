"""The model's part in the work: surveys, the order of the queue, label reviews, automatic acceptance.

`survey` asks the model in use about all tasks; `ranking`, `label_review` and `auto_accept` act on what it said, as far as
the project's stage (`stages`) and the precision measured on holdout documents (`holdout_precision`) allow.
"""
