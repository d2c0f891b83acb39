"""The data folder: whose it is, what kind of disk it is on, its space, and its clock."""

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import make_url

from db.session import sqlite_file
from engine.lifecycle.doctor.finding import Finding, broken, ok, warning
from engine.lifecycle.health import LEAST_FREE_BYTES
from engine.settings import GIGABYTE, Settings

_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs", "ceph", "glusterfs", "fuse.glusterfs"}
MOST_SKEW_SECONDS = 5.0  # leases last 20 s and more
_SHOWN = 3  # files in a sentence
_OF_THE_DISK = {"lost+found"}  # made by the file system, where the folder is a disk of its own


def check_folder(settings: Settings) -> Iterator[Finding]:
    """Yield whether this user can use the data folder, and others cannot read it."""
    folder = settings.data_dir.absolute()
    if not folder.exists():
        parent = next(place for place in folder.parents if place.exists())
        if os.access(parent, os.W_OK | os.X_OK):
            yield ok("data folder", f"{folder} does not exist yet; the first start creates it.")
        else:
            yield broken("data folder", f"{folder} cannot be created in {parent}.", f"chown the folder {parent}.")
        return
    any_owner = f"Run as the user that owns it, or: chown -R USER {folder}"
    if not folder.is_dir() or not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        yield broken("data folder", f"{folder} cannot be written to by this user.", any_owner)
        return
    # The folder may belong to another user: a volume of Kubernetes is root's, and its group may write to it.
    status, user = folder.stat(), os.geteuid()
    owners = {path.name: path.lstat().st_uid for path in folder.iterdir() if path.name not in _OF_THE_DISK}
    owner = user or status.st_uid  # root may look after the folder of another user
    foreign = sorted(name for name, uid in owners.items() if uid != owner)
    is_mine = user in (0, status.st_uid)
    if foreign and not is_mine and set(owners.values()) == {status.st_uid}:
        yield warning("data folder", f"{folder} belongs to another user.", "Run every command as that user.")
    elif foreign:
        names = ", ".join(foreign[:_SHOWN])
        sentence = f"Files in {folder} belong to another user than {owner}: {names}."
        yield broken("data folder", sentence, f"chown -R {owner} {folder}" if owner else any_owner)
    elif is_mine and status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield warning("data folder", f"Other users of this machine can enter {folder}.", f"chmod 700 {folder}")
    elif status.st_mode & stat.S_IWOTH:
        yield warning("data folder", f"Other users of this machine can write to {folder}.", f"chmod o-w {folder}")
    else:
        ending = "is private" if is_mine else "its files belong to this user"
        yield ok("data folder", f"{folder} can be written to, and {ending}.")


def check_disk(settings: Settings) -> Iterator[Finding]:
    """Yield whether the disk has room, and is one that SQLite can use."""
    folder = _nearest(settings.data_dir.absolute())
    free = shutil.disk_usage(folder).free
    if free < settings.disk_warning_gb * GIGABYTE or free < LEAST_FREE_BYTES:
        sentence = f"{folder} has {free / 1e6:,.0f} MB free."
        mend = (
            "Free disk space: glossator cleanup, glossator bin empty, glossator models prune, glossator blobs cleanup."
        )
        yield broken("disk", sentence, mend) if free < LEAST_FREE_BYTES else warning("disk", sentence, mend)
    else:
        yield ok("disk", f"{folder} has {free / 1e9:,.1f} GB free.")
    kind = file_system_of(folder)
    if settings.url.startswith("sqlite") and kind in _NETWORK:
        sentence = f"{folder} is on a network file system ({kind}), where SQLite loses data."
        yield broken("disk", sentence, "Move the data folder to a local disk, or use PostgreSQL.")


def check_clock(settings: Settings) -> Iterator[Finding]:
    """Yield whether this machine's clock agrees with that of the file system."""
    folder = _nearest(settings.data_dir.absolute())
    with tempfile.NamedTemporaryFile(dir=folder if os.access(folder, os.W_OK) else None) as file:
        skew = Path(file.name).stat().st_mtime - time.time()
    if abs(skew) > MOST_SKEW_SECONDS:
        sentence = f"The clock of the disk is {abs(skew):.0f} s {'ahead of' if skew > 0 else 'behind'} this machine's."
        yield warning("clock", sentence, "Set both clocks by NTP.")
    else:
        yield ok("clock", "This machine's clock agrees with the disk's.")


def database_exists(settings: Settings) -> bool:
    """Return whether a check may open the database: it never creates a file."""
    if settings.url.startswith("postgres"):
        return True
    file = sqlite_file(make_url(settings.url))
    return file is not None and file.is_file() and settings.data_dir.is_dir()


def file_system_of(folder: Path) -> str:
    """Return the kind of file system of a folder, such as ext4; "" where the system does not say."""
    kind, longest = "", -1
    try:
        lines = Path("/proc/mounts").read_text().splitlines()
    except OSError:
        return ""
    for line in lines:
        _, place, name, *_ = line.split()
        if folder.resolve().is_relative_to(place.replace("\\040", " ")) and len(place) > longest:
            kind, longest = name, len(place)
    return kind


def _nearest(folder: Path) -> Path:
    return next(place for place in (folder, *folder.parents) if place.exists())
