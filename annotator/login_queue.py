"""The line in which passwords wait to be looked at: short, fair, and without holding a thread that others need.

A hash costs a core for some 50 ms, by design. Whoever floods the login would else hold all threads that serve requests. Here
few are looked at at a time; addresses take turns, each with one at a time; and of one address, and of all together, only so
many wait. The rest is refused. People who have logged in from their address before go first.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import TypeVar

import anyio.to_thread
from anyio import CapacityLimiter

from engine.accounts.login_throttle import network_of
from engine.errors import TooMany

AT_ONCE = 4  # looked at: two of them hash (engine.accounts.passwords), the others read or write the database
OF_AN_ADDRESS = 4  # waiting
OF_STRANGERS, OF_KNOWN = 64, 16  # waiting, of all addresses; a second lane is for who is known where they are
LONG = 8  # waiting: from so many on it is worth asking the database who is known
HELD, HELD_SECONDS = 256, 1.0  # refusals that are held back at a time, and for how long
BUSY = "Too many people are logging in at the moment. Try again in a few seconds."
BUSY_SECONDS = 5
_Answer = TypeVar("_Answer")
_Lane = OrderedDict[str, deque["asyncio.Future[None]"]]  # network -> those of it that wait; the next one's turn first


class LoginQueue:
    """One line a process, used in its one event loop."""

    def __init__(self) -> None:
        self._strangers: _Lane = OrderedDict()
        self._known: _Lane = OrderedDict()
        self._running: set[str] = set()
        self._limiter: CapacityLimiter | None = None
        self._held = 0

    @property
    def is_long(self) -> bool:
        """Whether so many wait that who is known should go first."""
        return _length(self._strangers) >= LONG

    async def run(self, address: str, step: Callable[[], _Answer], *, known: bool = False) -> _Answer:
        """Call `step` in a thread when it is its address's turn. TooMany where too many wait already."""
        network = network_of(address)
        await self._turn(network, self._known if known else self._strangers, OF_KNOWN if known else OF_STRANGERS)
        try:
            if self._limiter is None:
                self._limiter = CapacityLimiter(AT_ONCE)
            return await anyio.to_thread.run_sync(step, limiter=self._limiter)
        finally:
            self._running.discard(network)
            self._next()

    async def hold_back(self) -> None:
        """Wait a moment before a refusal is told: who tries again at once is slowed down, and costs nothing meanwhile."""
        if self._held >= HELD:
            return
        self._held += 1
        try:
            await asyncio.sleep(HELD_SECONDS)
        finally:
            self._held -= 1

    async def _turn(self, network: str, lane: _Lane, most: int) -> None:
        of_address = sum(len(each.get(network, ())) for each in (self._known, self._strangers))
        if of_address >= OF_AN_ADDRESS or _length(lane) >= most:
            raise TooMany(BUSY, BUSY_SECONDS)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        lane.setdefault(network, deque()).append(turn)
        self._next()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it had its turn already; the next one gets it
                self._running.discard(network)
                self._next()
            raise

    def _next(self) -> None:
        """Give turns away while there are some: to who is known, then to strangers; each lane's addresses in a circle."""
        for lane in (self._known, self._strangers):
            for network in list(lane):
                if len(self._running) >= AT_ONCE:
                    return
                if network in self._running:
                    continue
                waiting = lane.pop(network)
                while waiting and waiting[0].done():  # cancelled
                    waiting.popleft()
                if waiting:
                    self._running.add(network)
                    waiting.popleft().set_result(None)
                if waiting:
                    lane[network] = waiting  # to the end of the circle


def _length(lane: _Lane) -> int:
    return sum(len(waiting) for waiting in lane.values())
