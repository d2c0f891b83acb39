"""Shipping papers."""
