"""Questions, the model's answers, and what people make of them.

`answer_service` asks the model, `state` applies edits (pure), `revisions` appends what people save, `words` keeps the words.
The mask of an answer is computed in `painting` (edits) and model.masks; agreement of two answers in `agreement`.
"""
