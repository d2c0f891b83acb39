"""Settings of a deployment, read once from GLOSSATOR_* variables and .env, then passed on.

No other code reads them.
"""

import os
import re
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from engine.sign_in_settings import SignInSettings

MEGABYTE = 1_000_000
GIGABYTE = 1_000_000_000

_PORTS = {"http": 80, "https": 443}
_OWN_PATHS = frozenset({"api", "app", "invite", "login", "logout", "sign-in", "source", "static"})
DATABASE_FILE = "glossator.db"  # in the data folder, unless an address is given


class Settings(SignInSettings):
    """Settings of a deployment."""

    model_config = SettingsConfigDict(env_prefix="GLOSSATOR_", env_file=".env", extra="ignore", frozen=True)

    data_dir: Path = Field(
        Path(".data"),
        description="Folder for database, uploads, pages and checkpoints; seen from where the command starts.",
    )
    database_url: str = Field(
        "",
        description="Database address: sqlite:///FILE or postgresql://...; empty: glossator.db in the data folder.",
    )
    blobs: str = Field(
        "",
        description="Address of the object store for uploads, pages and checkpoints: s3://BUCKET/PREFIX, gs://, az://; "
        "empty: the folder blobs in the data folder.",
    )
    blobs_options: dict[str, Any] = Field(
        default={},
        repr=False,
        description="Arguments of fsspec's file system for that address, as JSON: endpoint_url, key, secret.",
    )
    blobs_cache_mb: float = Field(
        10_000, gt=0, description="Maximum size of local copies of an object store's files, in MB."
    )
    host: str = Field(
        "127.0.0.1", description="Address to serve on. Addresses other than this machine require auth=login."
    )
    port: int = Field(7860, ge=0, le=65535, description="Port to serve on.")
    auth: Literal["local", "login"] = Field(
        "local", description="local: no login, this machine only. login: users log in."
    )
    allowed_hosts: list[str] = Field(default=[], description="Further host names of this server, for the Host header.")
    trusted_proxies: list[str] = Field(
        default=["127.0.0.1"], description="Addresses or networks of proxies whose X-Forwarded-For header is trusted."
    )
    secure_cookies: bool = Field(
        False, description="Send the login cookie over HTTPS only. Set this behind a TLS proxy."
    )
    root_path: str = Field(
        "",
        description="Path under which a proxy serves Glossator, as in /gloss; empty: it has a host name of its own. "
        "The proxy may pass the path on or take it off.",
    )
    max_connections: int = Field(
        1000, ge=50, description="Maximum number of connections; beyond it, idle ones are closed."
    )
    source_url: str = Field(
        "", description="Address of the program's source, for the link Source; empty: this server provides it."
    )
    session_hours: float = Field(24 * 14, gt=0, description="Hours after which a login in a browser ends in any case.")
    session_idle_hours: float = Field(
        72,
        ge=0,
        description="Hours without use by the person after which a login in a browser ends; 0: no such limit.",
    )
    second_factor: Literal["optional", "admins", "everyone"] = Field(
        "optional", description="Who must show a code of a second factor when logging in with a password."
    )

    metrics_port: int = Field(
        0, ge=0, le=65535, description="Port for metrics alone, which needs no login: GET /metrics; 0: none."
    )
    metrics_host: str = Field("127.0.0.1", description="Address to serve the metrics on, with metrics_port.")
    metrics_token: str = Field(
        "",
        repr=False,
        description="Token that may read /api/metrics, as `Authorization: Bearer`; 16 characters or more. Admins may "
        "without it.",
    )
    log_format: Literal["text", "json"] = Field(
        "text", description="Form of the logs: text: for people. json: one JSON object a line, for programs."
    )
    access_log: bool = Field(False, description="Log each request that was answered.")

    model_path: Path | None = Field(None, description="Checkpoint for new projects; empty: the shipped one.")
    threads: int = Field(
        1, ge=0, description="Threads of one forward pass; 0: one per core. A small network is fastest with one."
    )
    device: str = Field(
        "cpu",
        min_length=1,
        description="Device of the network, for answers, evaluation and retraining: cpu, cuda, cuda:N, mps, or auto: "
        "cuda where a GPU is there. Encoded pages are kept in its memory.",
    )
    page_cache: int = Field(64, ge=1, description="Number of encoded pages kept in memory.")

    extractions_per_minute: int = Field(
        120, ge=1, description="Requests for the values of papers that one person may send in a minute, by process."
    )
    quota_project_documents: int = Field(
        0, ge=0, description="Maximum number of documents of a project, unless it has a quota of its own; 0: no limit."
    )
    quota_project_mb: int = Field(
        0, ge=0, description="Maximum size of a project's files in MB, unless it has a quota of its own; 0: no limit."
    )
    quota_person_documents: int = Field(
        0, ge=0, description="Maximum number of documents that one person uploads, those in the bin too; 0: no limit."
    )
    quota_person_mb: int = Field(
        0, ge=0, description="Maximum size of the files that one person uploads, in MB; 0: no limit."
    )
    asks_per_minute: int = Field(
        0, ge=0, description="Questions that one person may ask in a minute, by process; 0: no limit."
    )
    imports_per_day: int = Field(0, ge=0, description="Imports that one person may start in 24 hours; 0: no limit.")
    exports_per_day: int = Field(0, ge=0, description="Exports that one person may start in 24 hours; 0: no limit.")
    max_upload_mb: float = Field(200, gt=0, description="Maximum size of an upload in MB.")
    max_pages: int = Field(300, ge=1, description="Maximum number of pages of a document.")
    max_page_pixels: int = Field(25_000_000, ge=10_000, description="Maximum number of pixels of a rendered page.")
    max_read_seconds: float = Field(30, gt=0, description="Maximum seconds for reading one file, without OCR.")
    max_ocr_seconds: float = Field(
        10,
        gt=0,
        description="Further seconds for each page that OCR reads; what one page leaves the others may use. "
        "On a busy machine, processor time counts, for up to five times as long.",
    )
    max_read_memory_mb: int = Field(
        2048,
        ge=256,
        description="Maximum memory for reading one file, in MB; OCR reads two pages at once by 2000, four by 2500.",
    )
    reader_confinement: Literal["required", "available", "off"] = Field(
        "available",
        description="Whether processes that open uploads are kept from the network, from other files, programs and "
        "processes. available: as far as the kernel can; required: no file is read where it cannot.",
    )
    render_dpi: int = Field(150, ge=50, le=600, description="Resolution of rendered PDF pages in dots per inch.")
    ocr: Literal["auto", "rapidocr", "tesseract"] = Field(
        "auto",
        description="OCR engine for scanned pages. auto: RapidOCR, and Tesseract for languages whose letters RapidOCR "
        "does not know.",
    )
    ocr_language: str = Field("eng", description="Languages of scanned pages by Tesseract's codes, joined by +.")

    retrain_after: int = Field(
        20, ge=1, description="Number of newly accepted answers that start a retraining; default of new projects."
    )
    retrain_quiet_seconds: float = Field(
        60, ge=0, description="Seconds without newly accepted answers before a retraining starts."
    )
    retrain_minutes: float = Field(5, gt=0, description="Maximum training time of a run in minutes.")
    retrain_steps: int = Field(
        0, ge=0, description="Training steps of a run at most; 0: as many as its corrected pages need."
    )
    retrain_scheduled_minutes: float = Field(
        60,
        gt=0,
        description="Maximum training time of a scheduled run in minutes; it ends earlier once it stops gaining.",
    )
    retrain_refit: bool = Field(
        True, description="After a passed verdict, train once more on all accepted pages, and use those weights."
    )
    retrain_unlabelled: float = Field(
        0,
        ge=0,
        lt=1,
        description="Share of a run's training steps that learn masked words from pages of the project without "
        "accepted answers, such as 0.2; 0: none.",
    )
    retrain_grace_hours: float = Field(
        12, ge=0, description="Hours after its scheduled time that a missed retraining is still started."
    )
    job_minutes: float = Field(240, gt=0, description="Maximum minutes of one attempt at a job, including judging.")
    job_memory_mb: int = Field(0, ge=0, description="Maximum memory of a worker during a job, in MB; 0: no limit.")
    bin_days: int = Field(
        30,
        ge=1,
        le=36500,
        description="Days for which a removed document or project stays in the bin; then it is deleted for good.",
    )
    keep_predictions_days: float = Field(
        0,
        ge=0,
        description="Days for which proposals are kept that later ones replaced and nobody built on; 0: for good.",
    )
    keep_sessions_days: float = Field(
        90, ge=0, description="Days for which ended logins and expired invitations are kept; 0: for good."
    )
    keep_jobs_days: float = Field(
        0, ge=0, description="Days for which finished readings, imports and exports are listed; 0: for good."
    )
    disk_warning_gb: float = Field(
        2, ge=0, description="Free disk space in GB below which admins are warned; 0: no warning."
    )
    poll_seconds: float = Field(
        2, gt=0, description="Seconds between two checks for new jobs (worker) or a new model (server)."
    )
    engine: Literal["local", "ray"] = Field(
        "local", description="Where the parts of jobs run: local: in the worker. ray: on a Ray cluster, side by side."
    )
    ray_address: str = Field(
        "",
        pattern="^(ray://.+)?$",
        description="Address of the Ray cluster, as ray://HOST:10001; empty: a cluster of the worker's own processes.",
    )

    webhook_private_addresses: list[str] = Field(
        default=[],
        description="Private addresses or networks that webhooks and callbacks may reach, as 10.0.5.0/24; "
        "without them, public addresses alone.",
    )
    webhook_http: bool = Field(
        False, description="Allow webhooks and callbacks to http:// addresses, which others on the way can read."
    )
    webhook_days: float = Field(
        30, ge=1, description="Days after which the deliveries of webhooks and callbacks are deleted."
    )

    proposer_addresses: list[str] = Field(
        default=[],
        description="Servers of other models that projects may send their pages to, as http://127.0.0.1:8000; "
        "empty: none.",
    )
    proposer_seconds: float = Field(120, gt=0, le=3600, description="Maximum seconds of a request to another model.")

    @field_validator("metrics_token")
    @classmethod
    def _hard_to_guess(cls, token: str) -> str:
        """Check that the token is long, and fits into a header."""
        if token and not re.fullmatch(r"[!-~]{16,200}", token):
            raise ValueError("Choose 16 to 200 letters, digits and signs, without spaces.")
        return token

    @field_validator("proposer_addresses")
    @classmethod
    def _servers(cls, addresses: list[str]) -> list[str]:
        """Check the servers: scheme, host and port alone."""
        origins = [origin_of(address.rstrip("/")) for address in addresses]
        for address, origin in zip(addresses, origins, strict=True):
            if origin is None or set(address.rstrip("/").split("://")[-1]) & set("/?#"):
                raise ValueError(
                    f"{address!r} is not the address of a server. Write for example http://127.0.0.1:8000, "
                    "without a path."
                )
        return [origin for origin in origins if origin is not None]

    @field_validator("trusted_proxies", "webhook_private_addresses")
    @classmethod
    def _addresses(cls, proxies: list[str]) -> list[str]:
        """Check addresses and networks; "*" is refused: every client could then choose its address for a login."""
        for proxy in proxies:
            try:
                ip_network(proxy)
            except ValueError:
                raise ValueError(
                    f"{proxy!r} is not an address or network. Write for example 10.0.0.5,172.16.0.0/12."
                ) from None
        return proxies

    @field_validator("root_path")
    @classmethod
    def _path_of_its_own(cls, path: str) -> str:
        """Check the path, which is written into pages; a slash at its end is dropped."""
        path = path.rstrip("/")
        parts = path.split("/")[1:]
        plain = all(re.fullmatch(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]*", part) for part in parts)
        if path and not (path.startswith("/") and plain and parts[0] not in _OWN_PATHS):
            raise ValueError(
                f"{path!r} is not a path to serve under. Write for example /gloss; "
                f"not /{', /'.join(sorted(_OWN_PATHS))}, which Glossator uses itself."
            )
        return path

    @field_validator("source_url", "proxy_logout_url")
    @classmethod
    def _web_address(cls, address: str) -> str:
        """Check the address, which is a link on every page: a web address, not a script."""
        try:
            parts = urlsplit(address)
            whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
        except ValueError:
            whole = False
        if address and not (
            whole and address.isascii() and address.isprintable() and not set(address) & set(" \"'<>\\`")
        ):
            raise ValueError(f"{address!r} is not a web address. Write for example https://git.example.org/glossator.")
        return address

    @model_validator(mode="after")
    def _this_machine_only_without_login(self) -> "Settings":
        if self.auth == "local" and not is_loopback(self.host):
            raise ValueError(
                f"Without logins, Glossator serves this machine only, not {self.host}. "
                "Set GLOSSATOR_AUTH=login and add a user (glossator users add NAME --role admin) to serve others."
            )
        if self.host in ("0.0.0.0", "::") and not self.allowed_hosts:
            raise ValueError(
                f"Serving on all addresses ({self.host}) requires the server's host names. "
                "Set for example GLOSSATOR_ALLOWED_HOSTS=glossator.example.org."
            )
        return self

    @field_validator("oidc_issuer")
    @classmethod
    def _issuer(cls, issuer: str) -> str:
        """Check the issuer: what it sends decides who a person is, so nobody on the way may change it."""
        origin = origin_of(issuer)
        host = urlsplit(issuer).hostname if origin else None
        plain = host and (issuer.startswith("https://") or is_loopback(host)) and not set(issuer) & set("?#")
        if issuer and not plain:
            raise ValueError(
                f"{issuer!r} is not an issuer. Write for example https://sign-in.example.org/realms/office, "
                "as the provider's discovery document names it."
            )
        return issuer

    @model_validator(mode="after")
    def _single_sign_on_is_a_login(self) -> "Settings":
        if self.auth == "local" and self.single_sign_on:
            raise ValueError("Single sign-on needs logins. Set GLOSSATOR_AUTH=login.")
        return self

    @model_validator(mode="after")
    def _a_folder_that_an_address_can_name(self) -> "Settings":
        path = str(self.data_dir.absolute())
        if not self.database_url and ("?" in path or "%" in path):
            raise ValueError(
                f"The data folder {path} has a ? or % in its name, which is invalid in a database address. "
                "Choose another folder, or set GLOSSATOR_DATABASE_URL."
            )
        return self

    @property
    def job_threads(self) -> int:
        """Return the number of threads of a job's arithmetic: the deployment's, or else half of the cores here."""
        return self.threads or max(1, (os.cpu_count() or 2) // 2)

    @property
    def url(self) -> str:
        """Return the address of the database."""
        return self.database_url or f"sqlite:///{(self.data_dir / DATABASE_FILE).absolute()}"


def origin_of(address: str) -> str | None:
    """Return scheme, host and port of a web address; the port of the scheme is left out. None of what is none."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    plain = address.isascii() and address.isprintable() and not set(address) & set(" \"'<>\\`")
    if not plain or parts.scheme not in _PORTS or not parts.hostname or "@" in parts.netloc or port == 0:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{port}" if port and port != _PORTS[parts.scheme] else "")


def is_loopback(host: str) -> bool:
    """Return whether a host is a loopback address, which other machines cannot reach."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
