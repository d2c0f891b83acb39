"""A seccomp filter: system calls that a process which reads files never needs fail with "not permitted".

https://docs.kernel.org/userspace-api/seccomp_filter.html. The filter is a program of the classic Berkeley packet
filter; each instruction has a code, two jumps and a value.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Iterable

from engine.confinement.kernel import machine, seccomp
from engine.confinement.numbers import CLONE, CLONE3, DENIED, EXECUTE, FORKS, KILL, LIMITS, NEWEST, TGKILL, Call

_LOAD, _EQUAL, _GREATER, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_ALLOW, _ERROR, _END_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in what the filter sees, bytes
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SET_FILTER, _ALL_THREADS = 1, 1
_THREAD = 0x00010000  # flag of clone
_NAMESPACES = 0x7E020000  # flags of clone

_NO_CALL = NEWEST + 1

_Instruction = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def restrict(*, programs: bool) -> None:
    """Deny what is not needed to all threads of this process, for ever. `PR_SET_NO_NEW_PRIVS` must be set.

    Args:
        programs: Whether it starts programs, and ends those that take too long.

    Raises:
        OSError: The kernel refuses.
    """
    instructions = [struct.pack("<HBBI", *instruction) for instruction in _instructions(programs)]
    program = _Program(len(instructions), b"".join(instructions))
    seccomp(_SET_FILTER, _ALL_THREADS, ctypes.byref(program))


def _instructions(programs: bool) -> Iterable[_Instruction]:
    """Yield the filter's instructions; a number that newer kernels add later is unknown ("no such call")."""
    yield from (_load(_ARCHITECTURE), (_EQUAL, 1, 0, _ARCHITECTURES[machine()]), (_RETURN, 0, 0, _END_PROCESS))
    yield _load(_NUMBER)
    yield from ((_GREATER, 0, 1, NEWEST), _fail(errno.ENOSYS))  # calls of 32-bit programs on x86_64 are above, too
    for call in (*DENIED, *(() if programs else (*EXECUTE, *FORKS, *KILL))):
        yield from _if(_number(call), [_fail(errno.EPERM)])
    # Its flags lie in memory, which a filter does not see; the C library uses `clone` then.
    yield from _if(_number(CLONE3), [_fail(errno.ENOSYS)])
    flags = [_load(_ARGUMENTS), (_ANY_BIT, 0, 1, _NAMESPACES), _fail(errno.EPERM)]
    if not programs:
        flags += [(_ANY_BIT, 1, 0, _THREAD), _fail(errno.EPERM)]
    yield from _if(_number(CLONE), [*flags, _ALLOWED])
    yield from _if(_number(TGKILL), [_load(_ARGUMENTS), (_EQUAL, 1, 0, os.getpid()), _fail(errno.EPERM), _ALLOWED])
    yield from _if(_number(LIMITS), list(_reading_of_own_limits()))
    yield _ALLOWED


def _reading_of_own_limits() -> Iterable[_Instruction]:
    """Yield what lets a call name this process alone (0) and no new limits (a null pointer of two halves)."""
    for half in (_ARGUMENTS, _ARGUMENTS + 16, _ARGUMENTS + 20):
        yield from (_load(half), (_EQUAL, 1, 0, 0), _fail(errno.EPERM))
    yield _ALLOWED


def _if(number: int, instructions: list[_Instruction]) -> Iterable[_Instruction]:
    """Yield instructions that are passed over where the call is another one; they end the program otherwise."""
    yield (_EQUAL, 0, len(instructions), number)
    yield from instructions


def _load(offset: int) -> _Instruction:
    return _LOAD, 0, 0, offset


def _fail(number: int) -> _Instruction:
    return _RETURN, 0, 0, _ERROR | number


_ALLOWED: _Instruction = (_RETURN, 0, 0, _ALLOW)


def _number(call: Call) -> int:
    """Return the number that a call has on this machine; one that no call has, where it is none of its calls."""
    return (call[0] if machine() == "x86_64" else call[1]) or _NO_CALL
