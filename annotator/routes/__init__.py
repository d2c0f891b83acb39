"""The REST routes, one file for each group."""
