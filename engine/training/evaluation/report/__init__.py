"""An evaluation as one HTML page: figures, plots, and pictures of the worst answers."""
