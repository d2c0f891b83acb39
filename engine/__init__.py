"""The engine of Glossator: all services below the web application and above network and database.

docs/architecture.md describes the packages and their layers; the layers contract in pyproject.toml enforces them.
"""
