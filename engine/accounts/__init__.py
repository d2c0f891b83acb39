"""People and their rights: users, names, passwords, sessions, tokens, invitations, members of projects.

`permissions` says who may do what in a project; `visibility` hides answers from people who are to be compared;
`login_throttle` slows down guessing. Nothing here knows of documents or answers beyond their rows.
"""
