"""Projects, their settings and stage, and the tasks that follow from documents and standard questions.

`open_tasks` keeps tasks complete, `overlap` draws those that several people answer, `priority` orders the queue.
"""
