"""Accounts: users, names, passwords, sessions, tokens, invitations, members of projects.

`permissions` checks roles; `visibility` hides answers from annotators who answer independently; `login_throttle` limits
password guessing. These modules use documents and answers only as database rows.
"""
