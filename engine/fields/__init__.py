"""Fields: what a project wants of every paper, as values of a known type."""
