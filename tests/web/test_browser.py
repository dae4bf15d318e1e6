# SPDX-License-Identifier: Apache-2.0
"""Chromium on every page: both stories from beginning to end, by mouse, by keyboard, without scripts, small and dark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.report.browser import opened
from tests.web.browser import complaints, sign_in, visiting
from tests.web.site import Site, Visitor, labels, running
from tests.web.stories import benchmark, board, team


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened() as found:
        yield found


def written(folder, **files: str) -> dict[str, str]:
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return {name: str(folder / f"{name}.csv") for name in files}


def paths(site: Site) -> list[str]:
    """Every page there is, and a unit of every context."""
    who = Visitor(site)
    runs = {r["context"]: r["id"] for r in who.get("/api/runs?tag=demo&limit=50").json["runs"]}
    sent = who.get("/api/benchmarks/topics-of-short-notes/submissions").json["submissions"][0]["id"]
    found = [
        "/", "/evaluate", "/runs", "/compare", "/benchmarks", "/benchmarks/new", "/metrics", "/metrics/kappa", "/formats",
        "/api", "/health", "/tokens", "/nothing-here", "/benchmarks/topics-of-short-notes", f"/submissions/{sent}",
        "/benchmarks/topics-of-short-notes/manage", "/benchmarks/topics-of-short-notes/submissions",
        f"/runs/{runs['monolabel']}/verify",
    ]  # fmt: skip
    for run in runs.values():
        unit = who.get(f"/api/runs/{run}/units?limit=1").json["units"][0]
        found += [f"/runs/{run}", f"/runs/{run}/units", f"/runs/{run}/unit?case={unit['test_case']}&id={unit['id']}"]
    return found


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("width", "scheme"),
    [(1280, "light"), (360, "dark"), pytest.param(1280, "dark", marks=SLOW), pytest.param(360, "light", marks=SLOW)],
)
def test_every_page_is_accessible_and_fits(browser, demo, width, scheme):
    size = {"width": width, "height": 900}
    with visiting(browser, demo, viewport=size, color_scheme=scheme) as page:
        for path in paths(demo):
            page.goto(path)
            assert (path, complaints(page)) == (path, [])


def test_an_evaluation_from_files_to_a_unit(browser, demo, tmp_path):
    files = written(tmp_path, gold=labels(90), one=labels(90, wrong=9), two=labels(90, wrong=30))
    with visiting(browser, demo) as page:
        page.goto("/")
        page.get_by_label("Gold standard").set_input_files(files["gold"])
        page.get_by_label("Systems").set_input_files([files["one"], files["two"]])
        page.get_by_role("button", name="Look at the files").click()
        page.get_by_role("heading", name="Ready to evaluate").wait_for()
        assert complaints(page) == []
        page.get_by_role("button", name="Evaluate", exact=True).click()
        page.get_by_role("heading", name="one, two").wait_for()
        page.get_by_role("link", name="gold A, predicted B: 3").click()
        page.get_by_role("heading", name="Units of one").wait_for()
        assert page.get_by_role("row").count() == 4
        page.get_by_label("Worse than").select_option("two")
        page.get_by_text("No unit is like that").wait_for()
        page.get_by_label("Worse than").select_option("")
        page.get_by_label("Show").select_option("wrong")
        page.get_by_role("link", name="i0", exact=True).click()
        page.get_by_role("heading", name="i0").wait_for()
        page.get_by_role("link", name="→").click()
        page.get_by_role("heading", name="i3").wait_for()


def test_broken_files_show_the_lines_that_are_wrong(browser, demo, tmp_path):
    files = written(tmp_path, gold=labels(9), bad="id,value\ni0,A\ni0,B\ni1,\n")
    with visiting(browser, demo) as page:
        page.goto("/evaluate")
        page.get_by_label("Gold standard").set_input_files(files["gold"])
        page.get_by_label("Systems").set_input_files(files["bad"])
        page.get_by_role("button", name="Look at the files").click()
        page.get_by_role("heading", name="These files cannot be scored yet").wait_for()
        assert sorted(page.locator(".src").all_inner_texts()) == ["3i0,B", "4i1,"]
        assert complaints(page) == []


def test_systems_are_compared(browser, demo):
    run = Visitor(demo).get("/api/runs?tag=labels").json["runs"][0]["id"]
    with visiting(browser, demo) as page:
        page.goto("/compare")
        page.get_by_label(f"run {run}").check()
        page.get_by_role("button", name="Compare").click()
        page.get_by_role("heading", name="Leaderboard").first.wait_for()
        assert complaints(page) == []
        page.get_by_role("link", name="Cohen's kappa").first.click()
        page.get_by_role("heading", name="Cohen's kappa: differences").wait_for()
        assert "show=kappa" in page.url
        page.get_by_role("link", name="steady against hasty: p").click()
        page.get_by_role("heading", name="Units of steady").wait_for()
        assert page.get_by_label("Better than").input_value() == "hasty"
        page.go_back()
        page.get_by_label("Against", exact=True).select_option("hasty")
        page.get_by_role("heading", name="differences").wait_for()
        assert "baseline=hasty" in page.url
        assert page.get_by_role("row", name="careful − steady").count() == 0


def test_a_benchmark_from_creation_to_export(browser, guarded, tmp_path):
    """The organiser's story and the participants' in one."""
    files = written(
        tmp_path, gold=labels(60), good=labels(60, wrong=3), poor=labels(60, wrong=40), bad="id,value\ni1,\n"
    )
    with visiting(browser, guarded) as organiser, visiting(browser, guarded) as one, visiting(browser, guarded) as two:
        sign_in(organiser, guarded.admin)
        organiser.goto("/benchmarks/new")
        organiser.get_by_label("Gold standard").set_input_files(files["gold"])
        organiser.get_by_label("Title", exact=True).fill("Letters by hand")
        organiser.get_by_label("Metrics one a line").fill("accuracy\nf1")
        organiser.get_by_label("Scores are shown to").select_option("blind")
        organiser.get_by_role("button", name="Create").click()
        tokens = []
        for name in ("Quick", "Slow"):
            organiser.get_by_label("Name of a team").fill(name)
            organiser.get_by_role("button", name="Invite").click()
            organiser.get_by_text(f"The token of {name}").wait_for()
            tokens.append(organiser.locator(".secret").inner_text())
        assert complaints(organiser) == []
        for page, token, sent in ((one, tokens[0], ["bad", "good"]), (two, tokens[1], ["poor"])):
            sign_in(page, token)
            assert page.url.endswith("/benchmarks/letters-by-hand")
            for name in sent:
                page.goto("/benchmarks/letters-by-hand")
                page.get_by_label("Your system’s output").set_input_files(files[name])
                page.get_by_role("button", name="Submit").click()
                page.locator(".state.refused, .state.scored").wait_for()
            page.get_by_text("once the organisers unblind").wait_for()
            page.goto("/benchmarks/letters-by-hand")
            page.get_by_text("until the organisers unblind it").wait_for()
            assert complaints(page) == []
        organiser.goto("/benchmarks/letters-by-hand/manage")
        organiser.get_by_role("button", name="Unblind").click()
        board(Visitor(guarded), "letters-by-hand")
        two.reload()
        rows = two.get_by_role("group", name="Leaderboard").get_by_role("row").all_inner_texts()
        assert [r.split()[:4] for r in rows[1:]] == [["1", "Quick", "0.950", "0.950"], ["2", "Slow", "0.333", "0.333"]]
        with organiser.expect_download() as saved:
            organiser.goto("/benchmarks/letters-by-hand/manage")
            organiser.get_by_role("link", name="Export everything").click()
        exported = tmp_path / "letters.karat-benchmark"
        saved.value.save_as(exported)
        with running(tmp_path / "elsewhere.db", "--accounts") as there, visiting(browser, there) as page:
            sign_in(page, there.admin)
            page.goto("/benchmarks")
            page.get_by_text("Import an exported benchmark").click()
            page.get_by_label("Exported file").set_input_files(exported)
            page.get_by_role("button", name="Import").click()
            page.get_by_role("heading", name="Manage").wait_for()
            page.goto("/benchmarks/letters-by-hand")
            again = page.get_by_role("group", name="Leaderboard").get_by_role("row").all_inner_texts()
            assert [r.split()[:4] for r in again] == [r.split()[:4] for r in rows]


def test_everything_is_readable_without_scripts(browser, demo):
    with visiting(browser, demo, java_script_enabled=False) as page:
        page.goto("/runs?tag=labels")
        page.locator("tbody a.run").first.click()
        page.get_by_role("link", name="gold travel, predicted money").click()
        page.get_by_label("Show").select_option("wrong")
        page.get_by_role("button", name="Show").click()
        page.locator("tbody a").first.click()
        page.get_by_role("link", name="the list").click()
        page.get_by_role("link", name="Benchmarks").click()
        page.get_by_role("link", name="Topics of short notes").click()
        assert page.get_by_role("row").count() == 4


def tab_to(page: Any, what: str) -> None:
    """Press Tab until the element with this name, id or text has the focus, and see that it shows."""
    script = "e => [e.name, e.id, e.textContent.trim().slice(0, 60)]"
    for _ in range(120):
        page.keyboard.press("Tab")
        focus = page.evaluate_handle("document.activeElement")
        if what in page.evaluate(script, focus):
            assert page.evaluate("e => e.matches(':focus-visible')", focus)
            return
    raise AssertionError(f"no way by keyboard to {what!r}")


def test_a_keyboard_is_enough(browser, guarded):
    """A team signs in, pastes a broken and a good file, reads its score, and looks up the metric; no mouse is there."""
    admin = Visitor(guarded, guarded.admin)
    id = benchmark(admin, title="By keyboard")
    one = team(admin, id)
    with visiting(browser, guarded) as page:
        page.goto("/sign-in")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        page.keyboard.press("Enter")
        tab_to(page, "token")
        page.keyboard.type(one.token)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="By keyboard").wait_for()
        for content, state in (("id,value\ni1,\n", "refused"), (labels(60, wrong=6), "scored")):
            page.goto(f"/benchmarks/{id}")
            tab_to(page, "Or paste it")
            page.keyboard.press("Enter")
            tab_to(page, "text")
            page.keyboard.insert_text(content)
            tab_to(page, "Submit")
            page.keyboard.press("Enter")
            page.locator(f".state.{state}").wait_for()
        page.get_by_text("0.900").first.wait_for()
        tab_to(page, "By keyboard")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Leaderboard").wait_for()
        tab_to(page, "LaTeX")
        tab_to(page, "accuracy")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Accuracy", exact=True).wait_for()


def test_an_evaluation_by_keyboard_from_paste_to_a_unit(browser, demo):
    with visiting(browser, demo) as page:
        page.goto("/evaluate")
        for name, content in (("gold", labels(30)), ("system", labels(30, wrong=3))):
            tab_to(page, f"Or paste {'gold' if name == 'gold' else 'one system'}")
            page.keyboard.press("Enter")
            tab_to(page, f"{name}_text")
            page.keyboard.insert_text(content)
        tab_to(page, "Look at the files")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Ready to evaluate").wait_for()
        tab_to(page, "Evaluate")  # the way of the site
        tab_to(page, "tags")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="system", exact=True).wait_for()
        tab_to(page, "Units that system gets wrong, worst first")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Units of system").wait_for()
        tab_to(page, "i0")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="i0").wait_for()


def test_a_page_on_paper_holds_no_buttons(browser, demo):
    run = Visitor(demo).get("/api/runs?tag=labels").json["runs"][0]["id"]
    with visiting(browser, demo) as page:
        page.emulate_media(media="print")
        page.goto(f"/runs/{run}")
        assert page.get_by_role("heading", name="Scores").is_visible()
        shown = [
            b for b in page.get_by_role("button").all() if b.is_visible() and not b.evaluate("e => !!e.closest('th')")
        ]
        assert shown == []
        assert not page.locator("nav").first.is_visible()
