"""Regions of a page that no word makes: boxes to tick, tables, signatures, stamps, logos; found in its ink, chosen."""
