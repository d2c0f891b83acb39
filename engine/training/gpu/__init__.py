"""Training on a GPU machine that has torch but neither a database nor readers of documents, from prepared pages.

`prepare` writes the pages that travel, `plan` lists the work, `run_plan` does it piece by piece, `step_costs` measures
memory and seconds. `python -m engine.training.gpu` starts them.
"""
