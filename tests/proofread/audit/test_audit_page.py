"""The page of an audit, in a browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.proofread.audit.corpora import audited, note, write_notes
from tests.reports.pages import policy_of

pytest_plugins = ("tests.browser",)


def test_findings_are_browsed(tmp_path: Path, browser: Browser) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(120):
        (folder / f"w{number:03}.md").write_text(note(number, 1), encoding="utf-8")
    (folder / "t.txt").write_text("It was large, t(28) = 2.20, p = 0.36 </script><b>&.")
    (folder / "bad.txt").write_bytes(b"\x81")
    audited(folder, tmp_path / "out")
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((tmp_path / "out" / "index.html").as_uri())
    cards = page.locator(".card")
    expect(cards).to_have_count(50)
    expect(page.locator("#counted")).to_have_text("121 of 121 findings")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Next").click()
    expect(cards).to_have_count(21)
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page.get_by_role("searchbox").fill("W04")
    expect(cards).to_have_count(10)
    expect(page.locator("#counted")).to_have_text("10 of 121 findings")
    expect(cards.first.locator("mark")).to_have_text("1")
    page.get_by_role("searchbox").fill("")
    page.locator("#kind").select_option("NUM301")
    expect(cards).to_have_count(1)
    expect(cards.first).to_contain_text("</script><b>&.")
    page.locator("#basis").select_option("learned")
    expect(cards).to_have_count(0)
    page.locator("#basis").select_option("")
    page.get_by_label("Probability at least").fill("1")
    expect(cards).to_have_count(0)
    expect(page.locator("section#not-checked")).to_contain_text("bad.txt: not UTF-8")
    assert policy_of(tmp_path / "out" / "index.html").startswith("default-src 'none'; style-src")
    assert errors == []
    assert len(requests) == 1  # itself
    page.close()


def test_of_many_findings_the_most_certain_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numerate.proofread.audit.summary.SHOWN", 5)
    write_notes(tmp_path / "notes", 30)
    (tmp_path / "notes" / "z.txt").write_text("It was large, t(28) = 2.20, p = 0.36.")
    summary = audited(tmp_path / "notes", tmp_path / "out", block=4)
    page = (tmp_path / "out" / "index.html").read_text()
    assert "The 5 most certain of 11 findings are on this page" in page
    everything = audited(tmp_path / "notes", tmp_path / "all", block=4)
    monkeypatch.undo()
    everything = audited(tmp_path / "notes", tmp_path / "all", block=4)
    assert len(everything.first) == 11
    assert summary.first == everything.first[:5]
    chances = [row["probability"] for row in everything.first]
    assert chances == sorted(chances, reverse=True)
