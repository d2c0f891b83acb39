"""One browser, several people: what it kept of one of them is not shown to the next."""

from db.tables import Document, Member, Page
from tests.browser.team import Team

# Status, and how many bytes came over the network: none where the browser's cache answered.
_FETCHED = """async (address) => {
  const answer = await fetch(address);
  await answer.blob();
  const entries = performance.getEntriesByName(new URL(address, location.href).href);
  return [answer.status, entries.at(-1).transferSize];
}"""


def test_a_kept_picture_is_shown_to_whose_login_fetched_it_and_to_nobody_else(team: Team) -> None:
    team.ask_of_all("What is the total due?")
    with team.workspace.database.read() as session:
        rows = session.query(Page.id).join(Document, Document.id == Page.document_id)
        picture = f"/api/pages/{rows.filter(Document.project_id == team.project).one()[0]}/image"
    context = team.context("Ann")
    page = context.new_page()
    page.goto(f"{team.server}/api/health")

    def fetched() -> tuple[int, int]:
        status, transferred = page.evaluate(_FETCHED, picture)
        return status, transferred

    status, transferred = fetched()
    assert status == 200 and transferred > 1000
    assert fetched() == (200, 0), "within one login the cache answers"
    context.clear_cookies()
    assert fetched()[0] == 401, "after a logout nobody reads it"
    team.change(lambda session: session.delete(session.get(Member, (team.project, team.ids["Ben"]))))
    context.add_cookies([{"name": "glossator_session", "value": team._token("Ben"), "url": team.server}])
    assert fetched()[0] == 404, "nor who is no member of the project"
    context.add_cookies([{"name": "glossator_session", "value": team._token("Ann"), "url": team.server}])
    assert fetched()[0] == 200
