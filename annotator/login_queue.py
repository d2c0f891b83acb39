"""Queue of password checks: short, fair, and without holding a thread while waiting.

A password hash occupies a core for about 50 ms, by design. A flood of logins would occupy all threads that serve
requests. So few passwords are checked at a time. Addresses take turns, with one check each. The number waiting, for one
address and in total, is limited; further logins are refused. Users who have logged in from their address before go
first.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import TypeVar

import anyio.to_thread
from anyio import CapacityLimiter

from engine.accounts.login_throttle import network_of
from engine.errors import TooMany

AT_ONCE = 4  # running checks: two of them hash (engine.accounts.passwords), the others use the database
OF_AN_ADDRESS = 4  # waiting
OF_STRANGERS, OF_KNOWN = 64, 16  # waiting, all addresses; a second queue for users known at their address
LONG = 8  # waiting: from this length on, the database is asked for known users
HELD, HELD_SECONDS = 256, 1.0  # refusals that are delayed at a time, and the delay
BUSY = "Too many people are logging in at the moment. Try again in a few seconds."
BUSY_SECONDS = 5
_Answer = TypeVar("_Answer")
_Lane = OrderedDict[str, deque["asyncio.Future[None]"]]  # network -> its waiting checks; the next turn first


class LoginQueue:
    """Queue of password checks; one per process, used on its event loop."""

    def __init__(self) -> None:
        self._strangers: _Lane = OrderedDict()
        self._known: _Lane = OrderedDict()
        self._running: set[str] = set()
        self._limiter: CapacityLimiter | None = None
        self._held = 0

    @property
    def is_long(self) -> bool:
        """Whether the queue is long enough to let known users go first."""
        return _length(self._strangers) >= LONG

    async def call_in_turn(self, address: str, step: Callable[[], _Answer], *, known: bool = False) -> _Answer:
        """Call a function in a thread when it is its address's turn.

        Args:
            address: client address.
            step: function that checks a password.
            known: the user has logged in from this address before.

        Returns:
            The result of `step`.

        Raises:
            TooMany: too many checks wait already.
        """
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
        """Delay a refusal for a moment, which slows down immediate retries at no cost."""
        if self._held >= HELD:
            return
        self._held += 1
        try:
            await asyncio.sleep(HELD_SECONDS)
        finally:
            self._held -= 1

    async def _turn(self, network: str, lane: _Lane, most: int) -> None:
        of_address = sum(len(queues.get(network, ())) for queues in (self._known, self._strangers))
        if of_address >= OF_AN_ADDRESS or _length(lane) >= most:
            raise TooMany(BUSY, BUSY_SECONDS)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        lane.setdefault(network, deque()).append(turn)
        self._next()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # its turn had begun; pass it on
                self._running.discard(network)
                self._next()
            raise

    def _next(self) -> None:
        """Give out free turns: known users first, then strangers; addresses take turns within each queue."""
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
                    lane[network] = waiting  # to the end of the rotation


def _length(lane: _Lane) -> int:
    return sum(len(waiting) for waiting in lane.values())
