"""Commands that go on running: the server and the workers, with their chores."""
