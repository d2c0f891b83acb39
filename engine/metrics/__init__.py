"""Metrics of the processes of an installation, in Prometheus' format.

Each process counts in its own memory. The process that the scrape reaches asks the others (`gathering`), so that one
scrape shows all, and a process that has died leaves nothing behind.
"""

from engine.metrics.gathering import HERE, Gatherer, NoAnswer
from engine.metrics.measuring import Ended, measure
from engine.metrics.port import MetricsPort

__all__ = ["HERE", "Ended", "Gatherer", "MetricsPort", "NoAnswer", "measure"]
