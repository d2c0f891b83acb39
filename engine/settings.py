"""Settings, read once from GLOSSATOR_* variables (and .env), then passed in. Nothing else reads the environment."""

from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

MEGABYTE = 1_000_000


class Settings(BaseSettings):
    """Everything that a deployment can choose."""

    model_config = SettingsConfigDict(env_prefix="GLOSSATOR_", env_file=".env", extra="ignore", frozen=True)

    data_dir: Path = Field(Path(".data"), description="Folder for the SQLite file, uploads, pages and checkpoints.")
    database_url: str = Field(
        "", description="sqlite:///FILE or postgresql://...; empty: glossator.db in the data folder."
    )
    host: str = Field("127.0.0.1", description="Address to serve on. Anything but this machine needs auth=login.")
    port: int = Field(7860, ge=0, le=65535, description="Port to serve on.")
    auth: Literal["local", "login"] = Field(
        "local", description="local: no login, this machine only. login: users log in."
    )
    allowed_hosts: list[str] = Field(default=[], description="Further Host names under which the page is reached.")
    trusted_proxies: list[str] = Field(
        default=["127.0.0.1"], description="Addresses or networks of proxies, which say where a request comes from."
    )
    secure_cookies: bool = Field(False, description="Send the login cookie over HTTPS only; set it behind a TLS proxy.")
    max_connections: int = Field(
        1000, ge=50, description="Most connections at a time; beyond, those that send nothing make room."
    )
    source_url: str = Field(
        "", description="Where the source of what runs here is, for the link Source; empty: this server hands it out."
    )
    session_hours: float = Field(24 * 14, gt=0, description="How long a login lasts.")

    model_path: Path | None = Field(None, description="Checkpoint to begin projects with; empty: the shipped one.")
    threads: int = Field(
        1, ge=0, description="Threads of one forward pass; 0: one a core. A small network is fastest with one."
    )
    page_cache: int = Field(64, ge=1, description="How many encoded pages are kept in memory.")

    max_upload_mb: float = Field(200, gt=0, description="Largest file accepted, in MB.")
    max_pages: int = Field(300, ge=1, description="Most pages of a document.")
    max_page_pixels: int = Field(25_000_000, ge=10_000, description="Most pixels of a rendered page.")
    max_read_seconds: float = Field(30, gt=0, description="Longest time that reading one file may take.")
    max_read_memory_mb: int = Field(2048, ge=256, description="Most memory that reading one file may take.")
    render_dpi: int = Field(150, ge=50, le=600, description="Resolution at which PDF pages are rendered.")
    ocr_language: str = Field("eng", description="Tesseract's language codes, joined by +.")

    retrain_after: int = Field(
        20, ge=1, description="Newly accepted annotations that start a retraining, for new projects."
    )
    retrain_quiet_seconds: float = Field(60, ge=0, description="Wait until nothing was accepted for so long.")
    retrain_minutes: float = Field(5, gt=0, description="Longest training time of one run.")
    retrain_steps: int = Field(250, ge=1, description="Training steps of one run.")
    retrain_grace_hours: float = Field(
        12, ge=0, description="For so long a retraining by the clock is made up for when nothing ran at its time."
    )
    job_minutes: float = Field(240, gt=0, description="Longest time of one attempt at a job, judging included.")
    job_memory_mb: int = Field(
        0, ge=0, description="Most memory that a worker may hold while it does a job, in MB; 0: what the machine has."
    )
    poll_seconds: float = Field(2, gt=0, description="How often a worker looks for work and the page for a new model.")

    @field_validator("trusted_proxies")
    @classmethod
    def _addresses(cls, proxies: list[str]) -> list[str]:
        """Not "*": whoever may name any address has no count of wrong passwords."""
        for proxy in proxies:
            try:
                ip_network(proxy)
            except ValueError:
                raise ValueError(
                    f"""{proxy!r} is no address and no network; write for example '["10.0.0.5", "172.16.0.0/12"]'."""
                ) from None
        return proxies

    @field_validator("source_url")
    @classmethod
    def _web_address(cls, address: str) -> str:
        """A link on every page: an address of the web, and nothing that a browser would run."""
        try:
            parts = urlsplit(address)
            whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
        except ValueError:
            whole = False
        if address and not (
            whole and address.isascii() and address.isprintable() and not set(address) & set(" \"'<>\\`")
        ):
            raise ValueError(
                f"{address!r} is no address of the web; write for example https://git.example.org/glossator."
            )
        return address

    @model_validator(mode="after")
    def _this_machine_only_without_login(self) -> "Settings":
        if self.auth == "local" and not is_loopback(self.host):
            raise ValueError(
                f"Without login, Glossator serves on this machine only, not on {self.host}. "
                "Set GLOSSATOR_AUTH=login and add a user (glossator users add NAME --role admin) to serve others."
            )
        if self.host in ("0.0.0.0", "::") and not self.allowed_hosts:
            raise ValueError(
                f"Serving on all addresses ({self.host}) needs the names under which people reach this server, "
                """for example GLOSSATOR_ALLOWED_HOSTS='["glossator.example.org"]'."""
            )
        return self

    @model_validator(mode="after")
    def _a_folder_that_an_address_can_name(self) -> "Settings":
        path = str(self.data_dir.absolute())
        if not self.database_url and ("?" in path or "%" in path):
            raise ValueError(
                f"The data folder {path} has a ? or a % in its name, which the address of a database takes for something else: "
                "choose another folder, or name the database with GLOSSATOR_DATABASE_URL."
            )
        return self

    @property
    def url(self) -> str:
        """Return the database's address."""
        return self.database_url or f"sqlite:///{(self.data_dir / 'glossator.db').absolute()}"


def is_loopback(host: str) -> bool:
    """Return whether `host` is an address of this machine that no other machine can reach."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
