"""Steps after a survey: order of the queue, label reviews, automatic answers."""

from dataclasses import dataclass

from engine.models import registry
from engine.plurals import count
from engine.selection import auto_accept, label_review, ranking
from engine.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Followed:
    """Result of the steps: counts for programs, sentences for people."""

    counts: dict[str, object]
    sentences: list[str]


def follow(workspace: Workspace, project_id: str) -> Followed:
    """Run the steps, each in its own transaction; repeating them changes nothing more."""
    with workspace.database.read() as session:
        version_id = registry.champion(session, project_id).id
    ranked = ranking.rank(workspace, project_id, version_id)
    looks = label_review.find(workspace, project_id)
    accepted = auto_accept.accept(workspace, project_id)
    sentences = []
    if ranked:
        sentences.append(f"{count(sum(ranked.values()), 'document was', 'documents were')} ranked for the queue.")
    if looks:
        sentences.append(f"{count(looks, 'label needs', 'labels need')} a review.")
    if accepted is not None and accepted.fell_back is not None:
        sentences.append(f"The project is semi-automatic again. {accepted.fell_back}")
    elif accepted is not None:
        sentences.append(
            f"{count(accepted.answers, 'answer was', 'answers were')} accepted automatically, "
            f"{accepted.audits:,} of them sampled for audit."
        )
    return Followed(
        {
            "ordered": ranked,
            "label_reviews": looks,
            "second_looks": looks,  # the name before, which programs may read
            "automatic": accepted.answers if accepted else 0,
            "audits": accepted.audits if accepted else 0,
            "fell_back": accepted.fell_back if accepted else None,
        },
        sentences,
    )
