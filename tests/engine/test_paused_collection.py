"""The garbage collector rests in pauses that may overlap, and works again after the last of them."""

import gc
import weakref

from engine.paused_collection import paused_collection


class Ring:
    def __init__(self) -> None:
        self.next = self


def test_the_collector_works_again_after_the_last_of_overlapping_pauses() -> None:
    first, second = paused_collection(), paused_collection()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled()


def test_garbage_of_later_is_collected_and_what_was_there_is_set_aside() -> None:
    before = gc.get_freeze_count()
    with paused_collection():
        staying = Ring()
    assert gc.get_freeze_count() > before
    garbage = weakref.ref(Ring())
    gc.collect()
    assert garbage() is None and staying.next is staying


def test_a_process_without_a_collector_stays_without() -> None:
    gc.disable()
    try:
        with paused_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_an_import_that_fails_ends_the_pause() -> None:
    try:
        with paused_collection():
            raise ImportError
    except ImportError:
        assert gc.isenabled()
