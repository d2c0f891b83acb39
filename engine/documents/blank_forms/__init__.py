"""Fillable PDF forms as templates for generated pages."""
