"""`glossator doctor`: what is installed and set up, what is missing, and how to mend it."""

from engine.lifecycle.doctor.examine import examine
from engine.lifecycle.doctor.finding import Finding

__all__ = ["Finding", "examine"]
