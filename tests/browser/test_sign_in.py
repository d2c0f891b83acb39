"""The login page with single sign-on, in a real browser, at a real provider."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from annotator.app import create_app
from engine.commands.servers.serve import server_options
from engine.settings import Settings
from tests.support.identity_provider import openid_server
from tests.support.server_process import free_port
from tests.support.server_thread import served


def test_a_person_signs_in_and_out_by_buttons(browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    with openid_server(f"http://127.0.0.1:{port}") as office, browser.new_context() as context:
        office.add("anna")
        settings = Settings(data_dir=tmp_path, port=port, _env_file=None, **office.settings())
        app = create_app(settings, with_page=False)
        with served(app, at=port, **server_options(settings)) as address:
            page = context.new_page()
            page.goto(f"{address}/api/docs#people")
            page.get_by_role("link", name="Sign in with Office").click()
            page.get_by_label("Login").fill("anna")
            page.get_by_role("button", name="Continue").click()
            page.wait_for_url(f"{address}/api/docs#people")
            page.evaluate(
                """() => {
                const form = Object.assign(document.createElement('form'), { method: 'post', action: '/logout' });
                document.body.append(form);
                form.submit();
                }"""
            )
            page.wait_for_url(f"{office.issuer}/session/end**")
            page.get_by_role("button", name="Yes, sign me out").click()
            expect(page.get_by_role("link", name="Sign in with Office")).to_be_visible()
            assert page.request.get(f"{address}/api/me").status == 401
