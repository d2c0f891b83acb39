"""Simulation of annotators on a dataset with known answers, to measure the whole annotation loop."""
