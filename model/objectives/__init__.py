"""Objectives of training: their losses and the heads they need."""
