"""Settings say in a sentence what cannot be."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from engine.settings import Settings, is_loopback


def test_without_login_only_this_machine_is_served() -> None:
    for host in ("127.0.0.1", "127.8.0.1", "::1", "localhost"):
        assert Settings(host=host, _env_file=None).host == host
    with pytest.raises(ValidationError, match="GLOSSATOR_AUTH=login"):
        Settings(host="0.0.0.0", _env_file=None)
    with pytest.raises(ValidationError, match="GLOSSATOR_AUTH=login"):
        Settings(host="192.168.1.5", _env_file=None)


def test_all_addresses_need_names_even_with_login() -> None:
    with pytest.raises(ValidationError, match="GLOSSATOR_ALLOWED_HOSTS"):
        Settings(host="0.0.0.0", auth="login", _env_file=None)
    assert Settings(host="0.0.0.0", auth="login", allowed_hosts=["docs.example"], _env_file=None).auth == "login"


def test_names_that_merely_look_local_are_not() -> None:
    assert not is_loopback("localhost.example.org")
    assert not is_loopback("127.0.0.1.example.org")


def test_a_proxy_is_named_by_its_address_and_never_by_everybody_s() -> None:
    named = ["10.0.0.5", "172.16.0.0/12", "fd00::/8"]
    assert Settings(trusted_proxies=named, _env_file=None).trusted_proxies == named
    for wrong in ("*", "proxy.example", "10.0.0.5/8"):
        with pytest.raises(ValidationError, match="is not an address or network"):
            Settings(trusted_proxies=[wrong], _env_file=None)


def test_the_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOSSATOR_PORT", "9001")
    monkeypatch.setenv("GLOSSATOR_DATABASE_URL", "postgresql://somewhere/glossator")
    monkeypatch.setenv("GLOSSATOR_TRUSTED_PROXIES", '["10.0.0.5"]')
    settings = Settings(_env_file=None)
    assert settings.trusted_proxies == ["10.0.0.5"]
    assert (settings.port, settings.url) == (9001, "postgresql://somewhere/glossator")


def test_lists_are_written_with_commas_or_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    forms = {
        "a.example.org": ["a.example.org"],
        "a.example.org, b.example.org,": ["a.example.org", "b.example.org"],
        ' ["a.example.org", "b.example.org"]': ["a.example.org", "b.example.org"],
        "[::1], a.example.org": ["[::1]", "a.example.org"],
        "": [],
    }
    for text, names in forms.items():
        monkeypatch.setenv("GLOSSATOR_ALLOWED_HOSTS", text)
        assert Settings(_env_file=None).allowed_hosts == names
    monkeypatch.setenv("GLOSSATOR_BLOBS_OPTIONS", '{"key": "k"}')
    assert Settings(_env_file=None).blobs_options == {"key": "k"}
    monkeypatch.setenv("GLOSSATOR_BLOBS_OPTIONS", "")
    assert Settings(_env_file=None).blobs_options == {}


def test_the_address_of_the_source_is_one_of_the_web() -> None:
    assert Settings(_env_file=None).source_url == ""
    for right in ("https://git.example.org/glossator", "http://10.0.0.5:3000/fork?ref=v2&x=%20#readme"):
        assert Settings(source_url=right, _env_file=None).source_url == right
    wrongs = (
        "git.example.org", "javascript:alert(1)", "//git.example.org", "https://", "https://a b", "ftp://x.org",
        "https://x.org/\n", 'https://x.org/"onclick', "https://me:word@x.org/", "data:text/html,x",
    )  # fmt: skip
    for wrong in wrongs:
        with pytest.raises(ValidationError, match="is not a web address"):
            Settings(source_url=wrong, _env_file=None)


@pytest.mark.parametrize("name", ["a?1", "p%41x"])
def test_a_data_folder_that_no_address_can_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Choose another folder"):
        Settings(data_dir=tmp_path / name, _env_file=None)
    assert Settings(data_dir=tmp_path / name, database_url="sqlite:///x.db", _env_file=None)
