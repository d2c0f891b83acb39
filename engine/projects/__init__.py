"""Projects, their settings and their stage."""
