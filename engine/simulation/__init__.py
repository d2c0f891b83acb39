"""Simulated annotators on a set whose answers are known: what the whole loop is worth, measured before people spend their time on it."""
