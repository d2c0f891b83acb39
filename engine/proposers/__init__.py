"""Proposals of models of others: their marks, or their texts grounded to the words of the pages."""
