"""What the database stores of tokens and recovery codes, which only their owners hold."""

import hashlib


def digest(token: str) -> str:
    """Return the SHA-256 of a token, as stored in the database. Tokens are random, so this needs no slow hash."""
    return hashlib.sha256(token.encode()).hexdigest()
