"""The pages of runs of every task in a headless Chromium, on a desktop and on a phone: nothing is cut off, results come first, charts
have more than one point, and the page of a running run reads itself again."""
import json
import pathlib
import re
import tempfile

import browser
import command
from language_test import SMALL, write_corpus
from runs import FEW_REGIONS, SMALL_ENCODER, detector_recipe, shapes_command, write_reviews
from translate_test import RECIPE as TRANSLATION, write_pairs

DETECTOR = detector_recipe("mask_rcnn_pvt_tiny_fpn", 64, FEW_REGIONS + """[model.roi_head.mask_head]
conv_out_channels = 8
[model.cache]
kind = "grc"
[train]
epochs = 2
batch_size = 4
threads = 1
log_every = "2 steps"
[optimizer]
lr = 0.002
[schedule]
kind = "constant"
""")
QUIET = ("--progress", "none", "--set", "train.threads=1")
IMAGES = ("--set", f"data.root={command.ROOT}/data/fashion-mnist", "--set", "data.limit=200", "--set", "train.log_every=2 steps")


def sections(page):
    return re.findall(r"<h2>([^<]*)</h2>", page.read_text())


class Pages(command.CommandTest):
    """The runs serve all tests: none of them changes one."""

    @classmethod
    def setUpClass(cls):
        browser.require_browser()
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)
        (cls.folder / "detector.toml").write_text(DETECTOR)
        (cls.folder / "translation.toml").write_text(TRANSLATION)
        write_pairs(cls.folder / "pairs")
        write_corpus(cls.folder / "wikitext-2")
        write_reviews(cls.folder / "aclImdb")
        for words in (("train", "demo_cached", "--run", "images", *QUIET, *IMAGES, "--set", "train.epochs=2",
                       "--set", "train.batch_size=20", "--set", "model.norm.warmup=4"),
                      ("train", "demo_cached", "--run", "short", *QUIET, *IMAGES, "--set", "train.limit=2 steps"),
                      shapes_command(12, 8, 64), ("train", "detector.toml", "--run", "detector", *QUIET),
                      ("train", "translation.toml", "--run", "translation", *QUIET, "--set", "train.epochs=4"),
                      ("data", "words", "wikitext-2", "-o", "words.txt", "--vocabulary", "24"),
                      ("train", "wikitext2_grc", "--run", "language", *SMALL, "--set", "data.vocabulary=23", "--set",
                       "train.limit=12 steps", "--set", "train.evaluate_every=4 steps", "--progress", "none"),
                      ("train", "lra_text", "--run", "sequence", *SMALL_ENCODER, "--set", "train.limit=8 steps", "--set",
                       "data.root=aclImdb", "--progress", "none"),
                      ("compare", "images", "short", "-o", "comparison.html"),
                      ("analyze", "images", "-o", "analysis", "--samples", "32", "--steps", "20")):
            done = command.run(*words, cwd=cls.folder)
            assert done.returncode == 0, done.stdout + done.stderr

    def page(self, run):
        return self.folder / run / "report.html"

    def check(self, page):
        browser.assert_nothing_is_cut(self, self.browser, page)

    def test_images(self):
        self.check(self.page("images"))

    def test_a_short_run(self):
        self.check(self.page("short"))

    def test_a_detector(self):
        self.check(self.page("detector"))

    def test_translation(self):
        self.check(self.page("translation"))

    def test_a_language_model(self):
        self.check(self.page("language"))

    def test_sequences(self):
        self.check(self.page("sequence"))

    def test_a_comparison(self):
        self.check(self.folder / "comparison.html")

    def test_an_analysis(self):
        self.check(self.folder / "analysis/analysis.html")

    def test_the_check_finds_what_is_cut(self):
        page = self.folder / "cut.html"
        page.write_text("<!DOCTYPE html><body style='margin:0'><figure style='width:100px;overflow:hidden'><div style='white-space:nowrap'>"
                        "much too long a line for its box</div></figure><p style='width:2000px'>wide</p></body>")
        self.browser.open(page, 400)
        found = "\n".join(self.browser.mistakes())
        for part in ("the page is 2000 pixels wide in a window of 400", "'much too long a line for its box'", "'wide'"):
            self.assertIn(part, found)

    def test_results_come_before_curves(self):
        for run, first in (("images", "Predictions"), ("detector", "Objects"), ("translation", "Translations"), ("language", "Text"),
                           ("sequence", "Predictions")):
            with self.subTest(run):
                found = sections(self.page(run))
                self.assertEqual(found[:3], [first, "What the model is trained on", "Training"])
                self.assertEqual(found[-1], "Recipe and environment")
                self.browser.open(self.page(run), 1400)
                drawn = self.browser.value("[...document.querySelectorAll('section')].find(s => s.querySelector('h2').textContent === "
                                           "'Training').querySelectorAll(':scope > .blocks > figure').length")
                self.assertEqual(drawn, 1, "one large chart; the others are in the fold")
                self.assertFalse(self.browser.value("document.querySelector('details.fold').open"))

    def test_metrics_of_one_kind_share_a_chart(self):
        text = self.page("detector").read_text()
        self.assertRegex(text, r'<figure class="chart( wide)?"><figcaption>Box AP</figcaption>')
        for title in ("Box AR", "Mask AP", "Losses"):
            self.assertTrue(f'<figure class="chart small"><figcaption>{title}</figcaption>' in text, title)
        self.assertNotIn("<figcaption>Box AP50", text)
        text = self.page("translation").read_text()
        self.assertEqual(len(re.findall(r"<figcaption>(Throughput|Target tokens/s)", text)), 1)

    def test_one_point_is_a_number(self):
        self.browser.open(self.page("short"), 1400)
        self.browser.value("for (const fold of document.querySelectorAll('details')) fold.open = true")
        lonely = self.browser.value("[...document.querySelectorAll('svg.plot')].filter(s => s.querySelector('.dots') && "
                                    "![...s.querySelectorAll('.curve')].some(c => c.getTotalLength() > 0)).length")
        self.assertEqual(lonely, 0)
        self.assertGreater(self.browser.value("document.querySelectorAll('.numbers .value').length"), 3)

    def test_the_size_of_the_model_is_named(self):
        said, = re.findall(r'<p class="subtitle">([^<]*)', self.page("images").read_text())
        self.assertTrue(said.startswith("vit_tiny_patch16_224 with "), said)
        for part in ("28 pixels", "patch 7", "3 blocks", "width 96", "4 heads", "MLP ratio 2"):
            self.assertIn(part, said)

    def test_recall_and_precision(self):
        text = self.page("images").read_text()
        for word in ("recall", "precision"):
            self.assertIn(f">{word}</th>", text)

    def test_the_page_of_a_running_run_reads_itself_again(self):
        text = self.page("images").read_text()
        self.assertNotIn('http-equiv="refresh"', text)
        refreshed = self.folder / "running.html"
        refreshed.write_text(text.replace("<style>", '<meta name="refresh-seconds" content="1"/><style>', 1))
        self.browser.open(refreshed, 1400)
        self.browser.value("document.querySelector('details.fold').open = true; scrollTo({top: 300, behavior: 'instant'})")
        refreshed.write_text(text.replace("<title>", "<title>again ", 1))  # and now it is finished
        self.browser.wait_for("document.title.startsWith('again') && document.readyState === 'complete'")
        self.assertTrue(self.browser.value("document.querySelector('details.fold').open"), "what a reader opened stays open")
        self.assertEqual(self.browser.value("Math.round(scrollY)"), 300)

    def test_an_analysis_shows_samples_of_different_classes(self):
        maps, = json.loads((self.folder / "analysis/analysis.json").read_text())["analyses"]["maps"]
        names = [sample["name"] for sample in maps["samples"]]
        self.assertGreaterEqual(len(set(names)), 3)
        self.browser.open(self.folder / "analysis/analysis.html", 1400)
        cells = self.browser.value("""[...document.querySelectorAll('#' + [...document.querySelectorAll('section')].find(
            s => s.querySelector('h2').textContent === 'Similarity of layers').id + ' rect.heat')].filter(r => r.querySelector('title'))
            .map(r => [r.getBoundingClientRect().width, r.getBoundingClientRect().height])""")
        self.assertGreater(len(cells), 8)
        for width, height in cells:
            self.assertAlmostEqual(width, height, delta=0.5)


if __name__ == "__main__":
    command.main()
