"""System calls of Linux that have no function in the C library, and what the kernel offers."""

import ctypes
import os
import platform
import sys
from functools import cache

_LANDLOCK_CREATE_RULESET, _LANDLOCK_VERSION = 444, 1
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_GET_ACTION_AVAILABLE, _RETURN_ERRNO = 2, 0x00050000
FILES, SYSTEM_CALLS = "files of others", "the network and system calls"  # parts that a process is kept from
SIGNALS_SINCE = 6  # version of Landlock that keeps signals within the confined processes, Linux 6.12


def system_call(number: int, *arguments: object) -> int:
    """Return the result of a system call. Raises OSError."""
    result: int = _library().syscall(ctypes.c_long(number), *arguments)
    return _check_result(result)


def prctl(option: int, *arguments: int) -> int:
    """Return the result of prctl. Raises OSError."""
    result: int = _library().prctl(option, *(ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:4]))
    return _check_result(result)


@cache
def machine() -> str:
    """Return the processor as the kernel names it, where its system calls are known here; else an empty string."""
    name = platform.machine()
    return name if sys.platform == "linux" and sys.maxsize > 1 << 32 and name in _SECCOMP else ""


@cache
def landlock_version() -> int:
    """Return the version of Landlock's interface; 0 where the kernel has none or does not allow its use."""
    if not machine():
        return 0
    try:
        return system_call(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_LANDLOCK_VERSION))
    except OSError:
        return 0


@cache
def filters_system_calls() -> bool:
    """Return whether the kernel takes a filter of system calls."""
    if not machine():
        return False
    action = ctypes.c_uint32(_RETURN_ERRNO)
    try:
        return system_call(_SECCOMP[machine()], _GET_ACTION_AVAILABLE, 0, ctypes.byref(action)) == 0
    except OSError:
        return False


def seccomp(operation: int, flags: int, arguments: object) -> None:
    """Call seccomp. Raises OSError."""
    system_call(_SECCOMP[machine()], operation, flags, arguments)


def missing_parts() -> tuple[str, ...]:
    """Return what a confined process is not kept from on this machine, for lack of something in the kernel."""
    if not machine():
        return ("files, network and programs (confinement is for Linux on x86_64 and aarch64)",)
    missing = []
    if not landlock_version():
        missing.append(f"{FILES} (the kernel has no Landlock, or does not allow it)")
    if not filters_system_calls():
        missing.append(f"{SYSTEM_CALLS} (the kernel takes no seccomp filter)")
    return tuple(missing)


def _check_result(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
