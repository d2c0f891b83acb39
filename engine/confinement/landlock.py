"""Landlock: the kernel's rules on files, TCP and signals that a process sets for itself.

https://docs.kernel.org/userspace-api/landlock.html
"""

import ctypes
import os
import stat
from collections.abc import Iterable
from enum import IntFlag
from pathlib import Path

from engine.confinement.kernel import SIGNALS_SINCE, landlock_version, system_call

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_NETWORK_SINCE = 4
_TCP = 0b11  # bind and connect
_SCOPES = 0b11  # abstract UNIX sockets and signals stay among the confined processes


class Access(IntFlag):
    """Rights on files, by the bits of the kernel."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13  # since version 2
    TRUNCATE = 1 << 14  # since version 3
    IOCTL_DEV = 1 << 15  # since version 5


READ = Access.READ_FILE | Access.READ_DIR
WRITE = READ | Access.WRITE_FILE | Access.TRUNCATE | Access.MAKE_REG | Access.REMOVE_FILE
WRITE_TREE = WRITE | Access.MAKE_DIR | Access.REMOVE_DIR
RUN = Access.READ_FILE | Access.EXECUTE

_ADDED = {2: Access.REFER, 3: Access.TRUNCATE, 5: Access.IOCTL_DEV}
_OF_FILES = Access.EXECUTE | Access.WRITE_FILE | Access.READ_FILE | Access.TRUNCATE | Access.IOCTL_DEV


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def restrict(rules: Iterable[tuple[Path, Access]]) -> None:
    """Take every right on files from this thread but those of the rules, and TCP and signals to others with them.

    Call it before other threads start: it holds for this thread, and for those that it starts. `PR_SET_NO_NEW_PRIVS`
    must be set. Rights on a folder are rights on all below. A path that does not exist is left out.

    Raises:
        OSError: The kernel refuses.
    """
    version = landlock_version()
    handled = _rights_of(version)
    ruleset = _Ruleset(handled, _TCP if version >= _NETWORK_SINCE else 0, _SCOPES if version >= SIGNALS_SINCE else 0)
    size = 8 if version < _NETWORK_SINCE else 16 if version < SIGNALS_SINCE else 24
    rules_of = system_call(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for path, access in rules:
            _add(rules_of, path, access & handled)
        system_call(_RESTRICT_SELF, rules_of, ctypes.c_uint32(0))
    finally:
        os.close(rules_of)


def _rights_of(version: int) -> Access:
    rights = ~Access(0)
    for since, access in _ADDED.items():
        if version < since:
            rights &= ~access
    return rights


def _add(ruleset: int, path: Path, access: Access) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # it is not here, or closed to this user anyway
        return
    try:
        if not stat.S_ISDIR(os.fstat(opened).st_mode):
            access &= _OF_FILES
        rule = _PathBeneath(access, opened)
        system_call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), ctypes.c_uint32(0))
    finally:
        os.close(opened)
