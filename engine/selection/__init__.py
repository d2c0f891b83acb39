"""Model-assisted selection: surveys, order of the queue, label reviews, automatic acceptance.

`survey` asks the model in use about all tasks. `ranking`, `label_review` and `auto_accept` act on its answers, limited
by the project's stage (`stages`) and by the precision measured on holdout documents (`holdout_precision`).
"""
