"""Which passwords are refused before they are anybody's."""

import pytest

from engine.accounts import passwords
from engine.errors import Refused

EASY = [
    "1234567890",
    "0987654321",
    "qwertyuiop",
    "QWERTYUIOP",
    "aaaaaaaaaa",
    "abcabcabcabc",
    "abcdefghij",
    "password123",
    "Passw0rd123",
    "iloveyou12",
    "1q2w3e4r5t",
    "amira12345",
    "x" * 1000,
]


@pytest.mark.parametrize("password", EASY)
def test_a_password_that_is_guessed_early_is_refused(password: str) -> None:
    with pytest.raises(Refused, match="easy to guess"):
        passwords.check(password, "amira")


@pytest.mark.parametrize("password", ["a long password", "correct horse battery", "Zp9)kd2!vQ", "přílišžluťoučkýkůň"])
def test_several_words_or_chance_make_a_password(password: str) -> None:
    passwords.check(password, "amira")


def test_a_password_that_is_stored_already_still_fits() -> None:
    stored = passwords._HASHER.hash("1234567890")
    assert passwords.fits(stored, "1234567890")
    assert not passwords.fits(stored, "1234567891")
    assert not passwords.fits(None, "1234567890")


@pytest.mark.parametrize("password", ["short", "y" * 1001, "A Name Of Mine"])
def test_what_is_short_endless_or_the_name_is_refused(password: str) -> None:
    with pytest.raises(Refused):
        passwords.check(password, "a name of mine")
