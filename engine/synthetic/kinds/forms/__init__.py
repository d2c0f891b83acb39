"""Generated forms."""
