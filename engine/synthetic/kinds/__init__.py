"""Kinds of pages, one module each with `lay_out(chance) -> Draft`."""
