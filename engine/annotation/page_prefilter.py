"""Prefilter of long documents: the pages that share words with the question."""

from collections.abc import Sequence

from rapidfuzz import fuzz, utils
from sqlalchemy import select

from db.tables import Page, PageWord
from engine.workspace import Workspace

PAGES_ASKED = 8  # pages asked of a long document


def by_likelihood(workspace: Workspace, pages: Sequence[Page], question: str) -> list[str]:
    """Return page ids, likeliest first: by shared words when the document has more than PAGES_ASKED pages."""
    if len(pages) <= PAGES_ASKED:
        return [page.id for page in pages]
    asked = utils.default_process(question)
    with workspace.database.read() as session:
        words = session.execute(
            select(PageWord.page_id, PageWord.text).where(
                PageWord.page_id.in_([page.id for page in pages]), PageWord.retired_at.is_(None)
            )
        ).all()
    texts: dict[str, list[str]] = {page.id: [] for page in pages}
    for page_id, text in words:
        texts[page_id].append(text)
    share = {
        page_id: fuzz.token_set_ratio(asked, utils.default_process(" ".join(text))) for page_id, text in texts.items()
    }
    return sorted(share, key=lambda page_id: -share[page_id])
