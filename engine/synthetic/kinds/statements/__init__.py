"""Statements and bills."""
