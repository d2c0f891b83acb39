"""Questions, model answers, and the revisions that people save.

`answer_service` asks the model, `state` applies edits (pure), `revisions` stores saves, `words` stores the words of
pages.
`painting` computes the mask after edits, `agreement` compares two answers.
"""
