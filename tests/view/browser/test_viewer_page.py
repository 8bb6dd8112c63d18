"""The viewer's page in a real browser (headless Chromium, software GL): it draws the liquid and obeys its controls."""

import io
import threading

import numpy as np
import pytest
from PIL import Image
from viewer_runs import begin_run, forget_amounts, frame, write_run

from glug.errors import InputError
from glug.view.browser.chromium import chromium
from glug.view.browser.feed import Feed
from glug.view.browser.server import Server, address, listen

pytestmark = pytest.mark.slow
PATIENCE = 60_000.0  # ms: software GL on a busy machine


@pytest.fixture(scope="module")
def browser():
    try:
        with chromium() as found:
            yield found
    except InputError as error:
        pytest.skip(str(error))


class Opened:
    """A page on a run, with everything it complained about."""

    def __init__(self, browser, path, token=None, awaited=False):
        listener = listen("127.0.0.1", None)
        self.server = Server(listener, Feed(path, awaited=awaited), token)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.complaints = []
        self.page = browser.new_page(viewport={"width": 1000, "height": 640})
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(address(listener, token) + "#debug")

    def shows(self, index):
        """Wait until frame `index` is on the screen."""
        self.page.wait_for_selector(f'body[data-frame="{index}"]', timeout=PATIENCE)

    def scrub(self, place):
        self.page.locator("#frame").evaluate(
            "(s, v) => { s.value = v; s.dispatchEvent(new Event('input')) }", str(place)
        )

    def picture(self):
        """The canvas without the panels, (height, width, 3) in 0..1."""
        self.page.evaluate("document.body.classList.add('bare')")
        self.page.wait_for_timeout(300)
        shot = self.page.screenshot(clip={"x": 0, "y": 0, "width": 700, "height": 560}, timeout=PATIENCE)
        self.page.evaluate("document.body.classList.remove('bare')")
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")) / 255.0

    def close(self):
        self.page.close()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def open_page(browser):
    opened = []

    def make(path, **options):
        opened.append(Opened(browser, path, **options))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("page") / "run")


def honey(picture):
    """Pixels of the colour of honey: red over green over blue, clearly."""
    r, g, b = np.moveaxis(picture, -1, 0)
    return (r > g + 0.1) & (g > b + 0.1)


def test_the_page_draws_honey_and_complains_of_nothing(open_page, run):
    opened = open_page(run.path)
    opened.shows(3)  # a complete run opens past its middle
    assert opened.page.title() == "falling-ball – glug"
    box = opened.page.locator("#canvas").bounding_box()
    assert (box["width"], box["height"]) == (1000, 640)
    share = honey(opened.picture()).mean()
    assert 0.02 < share < 0.6
    assert opened.complaints == []


def test_without_the_surface_there_is_no_honey(open_page, run):
    opened = open_page(run.path)
    opened.shows(3)
    opened.page.locator("#show-surface").click()
    opened.page.wait_for_timeout(1000)
    assert honey(opened.picture()).mean() < 0.001


def test_the_scrubber_changes_the_frame_and_the_ball_sinks(open_page, run):
    opened = open_page(run.path)
    opened.shows(3)
    heights = {}
    for index in (0, 5, 2):
        opened.scrub(index)
        opened.shows(index)
        assert opened.page.locator("#now b").inner_text() == str(index)
        rows, _ = np.nonzero(honey(opened.picture()))
        heights[index] = np.percentile(rows, 1)  # the upper edge: the shadow is of the colour of honey, too
    assert heights[0] + 5 < heights[2] < heights[5] - 5
    assert opened.complaints == []


def test_playing_goes_on_to_the_next_frames(open_page, run):
    opened = open_page(run.path)
    opened.shows(3)
    opened.scrub(0)
    opened.shows(0)
    opened.page.locator("#loop").click()
    opened.page.locator("#canvas").focus()
    opened.page.keyboard.press("Space")
    opened.shows(5)
    assert opened.complaints == []


def test_particles_slices_plots_and_parameters_are_shown(open_page, run):
    opened = open_page(run.path)
    opened.shows(3)
    plain = opened.picture()
    opened.page.locator("#colour").select_option("temperature")
    opened.page.locator("#show-particles").click()
    opened.page.wait_for_selector("#legend:not([hidden])")
    assert opened.page.locator("#legend-name").inner_text() == "temperature [°C]"
    assert opened.page.locator("#legend-high").inner_text() == "60"
    opened.page.locator("#slice").select_option("pressure")
    opened.page.wait_for_timeout(1500)
    assert opened.page.locator("#legend-name").inner_text() == "pressure [Pa]"
    assert np.abs(opened.picture() - plain).max(-1).mean() > 0.01
    # volume, energy, momentum, angular momentum, what left, iterations, seconds
    assert opened.page.locator("#plots canvas").count() == 7
    assert "16 × 16 × 16" in opened.page.locator("#facts").inner_text()
    assert 'name = "falling-ball"' in opened.page.locator("#scene").text_content()
    assert opened.complaints == []


def test_steps_of_an_earlier_version_are_plotted_as_far_as_they_say(open_page, tmp_path):
    old = write_run(tmp_path / "old")
    forget_amounts(old.path)
    opened = open_page(old.path)
    opened.shows(3)
    opened.page.wait_for_selector("#plots canvas")
    assert opened.page.locator("#plots canvas").count() == 3
    assert opened.complaints == []


def test_solids_move_and_can_be_hidden(open_page, run):
    opened = open_page(run.path)
    opened.shows(3)
    opened.page.locator("#show-surface").click()

    def moved():
        pictures = []
        for index in (0, 5):
            opened.scrub(index)
            opened.shows(index)
            opened.page.wait_for_timeout(1500)  # the shadow follows once things rest
            pictures.append(opened.picture())
        return (np.abs(pictures[1] - pictures[0]).max(-1) > 0.1).mean()

    assert moved() > 0.002
    opened.page.locator("#slice").select_option("pressure")
    opened.page.locator("#slice-axis").select_option("0")  # across x, which the paddle does not go along
    opened.page.locator("#slice-at").evaluate("(s) => { s.value = 0; s.dispatchEvent(new Event('input')) }")
    assert moved() > 0.002
    opened.page.locator("#slice").select_option("")
    opened.page.locator("#show-solids").click()
    assert moved() == 0.0
    assert opened.complaints == []


def test_a_frame_that_is_cut_is_said_to_be_and_not_drawn(open_page, tmp_path):
    cut = write_run(tmp_path / "cut")
    path = cut.file("surface", 2)
    path.write_bytes(path.read_bytes()[:-7])
    opened = open_page(cut.path)
    opened.shows(3)
    opened.scrub(2)
    opened.shows(2)
    assert "0002.ply: truncated" in opened.page.locator("#message").inner_text()
    assert honey(opened.picture()).mean() < 0.001
    opened.scrub(4)
    opened.shows(4)
    assert opened.page.locator("#message").is_hidden()
    assert honey(opened.picture()).mean() > 0.02


def test_a_run_is_followed_as_it_grows(open_page, tmp_path):
    opened = open_page(tmp_path / "run", awaited=True)
    opened.page.wait_for_selector("text=waiting for the first frame")
    run = begin_run(tmp_path / "run")
    run.write_frame(frame(0))
    opened.shows(0)
    run.write_frame(frame(1))
    opened.shows(1)
    assert "not complete: frame 1 of 5" in opened.page.locator("#state").inner_text()
    opened.page.locator("#canvas").focus()
    opened.page.keyboard.press("Home")  # one who looks elsewhere is left there
    opened.shows(0)
    run.write_frame(frame(2))
    opened.page.wait_for_selector("text=not complete: frame 2 of 5")
    opened.page.wait_for_timeout(1500)
    opened.shows(0)
    assert opened.complaints == []


def test_the_page_works_behind_a_token(open_page, run):
    opened = open_page(run.path, token="correct-horse")
    opened.shows(3)
    assert "token" not in opened.page.url
    assert opened.complaints == []
