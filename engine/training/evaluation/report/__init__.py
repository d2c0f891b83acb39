"""HTML report of an evaluation: figures, plots, and pictures of the worst answers."""
