"""Which tasks there are: they follow from documents, standard questions and settings of the project.

`open_tasks` keeps tasks complete, `overlap` draws those that several people answer, `priority` orders the queue;
`task_changes` lets all tasks of a project follow a change, in batches.
"""
