"""A port that is still held is waited for a moment, and named if it is not let go."""

import socket
import threading

import pytest
import typer

from engine.commands.servers import serve
from engine.settings import Settings


def test_a_port_that_a_killed_server_lets_go_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        settings = Settings(host="127.0.0.1", port=held.getsockname()[1], _env_file=None)
        error = serve._bind_error(settings)
        assert error is not None and error.strerror == "Address already in use"
        letting_go = threading.Timer(0.3, held.close)
        letting_go.start()
        serve._check_free(settings)
        letting_go.join()
    assert serve._bind_error(settings) is None


def test_a_port_that_stays_taken_ends_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve, "_PORT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as held, pytest.raises(typer.Exit):
        serve._check_free(Settings(host="127.0.0.1", port=held.getsockname()[1], _env_file=None))
    assert "Cannot serve on 127.0.0.1:" in capsys.readouterr().err
