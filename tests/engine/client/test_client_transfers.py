"""Documents go to another project through the Python client."""

from pathlib import Path

import pytest

from engine.client import ServerSaid
from engine.client.schemas import TransferView
from engine.jobs import queue
from tests.support.client_house import House
from tests.support.waiting import wait_until


def test_a_document_is_copied_then_moved_and_the_move_undone(house: House, invoice: Path) -> None:
    with house.as_("ada") as ada:
        source, copies, letters = (ada.create_project(name).id for name in ("sent", "copies", "letters"))
        document_id = ada.upload(source, invoice).documents[0].document_id
        ada.ask(document_id, "What is the total due?")

        def ended(transfer: str) -> TransferView:
            wait_until(lambda: ada.transfer_state(source, transfer).status in queue.ENDED)
            return ada.transfer_state(source, transfer)

        copied = ended(ada.transfer(source, [document_id], copies, move=False).id)
        assert copied.message == "Copied 1 document to the other project."
        [copy] = ada.documents(copies)
        assert [each.question.text for each in ada.document(copy.id).annotations] == ["What is the total due?"]
        plan = ada.preview_transfer(source, [document_id], letters, move=True)
        assert plan.documents == 1 and any("lie in the bin of sent" in sentence for sentence in plan.sentences)
        moved = ended(ada.transfer(source, [document_id], letters, move=True).id)
        with pytest.raises(ServerSaid, match=r"^This document was moved to the project letters\. Open it there\.$"):
            ada.document(document_id)
        assert ada.undo_transfer(source, moved.id).documents == [document_id]
        assert ada.document(document_id).annotations and ada.documents(letters) == []
