"""Kinds of pages, one module each with `lay_out(rng) -> Draft`."""
