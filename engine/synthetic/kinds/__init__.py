"""One module a kind of page; each gives `lay_out(chance) -> Draft`."""
