"""The engine of Glossator: everything but the browser and the network's mathematics.

Rooms and the one direction of imports: docs/architecture.md; the layers contract in pyproject.toml holds it.
"""
