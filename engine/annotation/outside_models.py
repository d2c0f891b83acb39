"""Versions of models of others that have proposed answers in a project, by which their figures are told apart."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import OutsideModel, Proposer


def load_outside_model(session: Session, project_id: str, name: str, version: str, *, prompt: str = "") -> OutsideModel:
    """Return a version of a model of others, stored where it is new. The caller has locked the project.

    Args:
        session: In a unit of work that writes.
        project_id: Project in which it proposes.
        name: Name of the model, at most 100 characters.
        version: Its version, at most 100 characters.
        prompt: What it was told, of a new one.
    """
    known = session.scalar(select(OutsideModel).filter_by(project_id=project_id, name=name, version=version))
    if known is not None:
        return known
    model = OutsideModel(project_id=project_id, name=name, version=version, prompt=prompt)
    session.add(model)
    session.flush()
    return model


def asks_own_model(session: Session, project_id: str) -> bool:
    """Return whether a project's own model proposes answers: not where it asks a model of others alone."""
    alone = select(Proposer.project_id).where(Proposer.project_id == project_id, Proposer.alone.is_(True))
    return session.scalar(alone) is None


def outside_label(model: OutsideModel) -> str:
    """Return name and version, for people."""
    return f"{model.name} {model.version}".strip()
