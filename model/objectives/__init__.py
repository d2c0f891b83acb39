"""Objectives: what a run learns, and how its loss is computed."""
