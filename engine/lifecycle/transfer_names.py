"""Names of documents in what ended transfers say of those that stayed; replaced when a document is deleted."""

from collections.abc import Collection, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Job
from engine.lifecycle.transfers import STAYS, TRANSFER

_DELETED = "A deleted document"


def find_transfers(session: Session, project_id: str, names: Collection[str]) -> list[str]:
    """Return the ids of the ended transfers of a project that say of a document with one of the names why it stays."""
    sentences = _nameless(names).keys()
    ended = Job.project_id == project_id, Job.kind == TRANSFER, Job.status == "done"
    rows = session.execute(select(Job.id, Job.result).where(*ended)).tuples()
    return [job_id for job_id, result in rows if not sentences.isdisjoint(result.get("stays", ()))]


def forget_in_transfers(session: Session, transfers: Sequence[str], document_id: str, names: Collection[str]) -> None:
    """Replace the names of a document in transfers of which it was one."""
    nameless = _nameless(names)
    for job in session.scalars(select(Job).where(Job.id.in_(transfers))):
        if document_id not in job.payload["documents"]:
            continue
        sentence, message = job.result["sentence"], job.message
        for old in nameless.keys() & set(job.result["stays"]):
            sentence, message = sentence.replace(old, nameless[old]), message.replace(old, nameless[old])
        stays = [nameless.get(each, each) for each in job.result["stays"]]
        job.result, job.message = {**job.result, "stays": stays, "sentence": sentence}, message


def _nameless(names: Collection[str]) -> dict[str, str]:
    """Return the sentences on documents of these names, and each without the name."""
    return {each.format(name=name): each.format(name=_DELETED) for each in STAYS for name in names}
