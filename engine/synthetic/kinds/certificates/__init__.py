"""Certificates and licences."""
