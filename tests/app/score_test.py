"""`cachet score`: BLEU and chrF of files, with sacreBLEU's signatures."""
import unittest

import command

HYPOTHESES = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him.", "", "Zwei Häuser, 3.5 Meter hoch."]
FIRST = ["The dog bit the man.", "It was not unexpected.", "The man bit him first.", "Nothing.", "Zwei Häuser, 3.5 Meter hoch!"]
SECOND = ["The dog had bit the man.", "No one was surprised.", "The man had bitten the dog.", "", "Zwei Häuser von 3.5 Metern"]


def write(path, lines):
    path.write_text("".join(line + "\n" for line in lines))


class Score(command.FolderTest):
    def setUp(self):
        super().setUp()
        for name, lines in (("hyp", HYPOTHESES), ("a.ref", FIRST), ("b.ref", SECOND)):
            write(self.folder / name, lines)

    def test_scores_have_signatures(self):
        said = self.cachet("score", "hyp", "a.ref").stdout.splitlines()
        self.assertEqual(len(said), 6)
        self.assertRegex(said[0], r"^BLEU \d+(\.\d+)? ± \d+(\.\d+)?$")
        self.assertRegex(said[1], r"^  BLEU = \d+\.\d\d .*\(BP = .* hyp_len = \d+ ref_len = \d+\)$")
        self.assertEqual(said[2], "  nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0")
        self.assertRegex(said[4], r"^  chrF2 = \d+\.\d\d$")
        self.assertEqual(said[5], "  nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0")
        both = self.json_of("score", "hyp", "a.ref", "b.ref", "--json", cwd=self.folder)
        self.assertEqual((both["sentences"], both["references"]), (5, 2))
        self.assertEqual(both["bleu"]["signature"], "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0")
        self.assertTrue(both["chrf"]["signature"].startswith("nrefs:2|"))
        one = self.json_of("score", "hyp", "a.ref", "--json", cwd=self.folder)
        self.assertGreater(both["bleu"]["score"], one["bleu"]["score"])
        self.assertGreater(one["bleu"]["stderr"], 0)
        self.assertIn(f"{one['bleu']['score']:.2f}", one["bleu"]["text"])
        tokenized = self.json_of("score", "hyp", "a.ref", "--tokens", "none", "--json", cwd=self.folder)
        self.assertIn("|tok:none|", tokenized["bleu"]["signature"])
        same = self.json_of("score", "-", "hyp", "--json", cwd=self.folder, stdin="".join(line + "\n" for line in HYPOTHESES))
        self.assertAlmostEqual(same["bleu"]["score"], 100, places=9)
        self.assertAlmostEqual(same["chrf"]["score"], 100, places=9)

    def test_files_that_do_not_fit(self):
        write(self.folder / "short", FIRST[:3])
        (self.folder / "empty").write_text("")
        said = self.refused("score", "hyp", "a.ref", "short", cwd=self.folder, code=1)
        self.assertIn("short: has 3 lines, but hyp has 5", said)
        self.assertIn("empty: holds no lines", self.refused("score", "empty", "a.ref", cwd=self.folder, code=1))
        self.assertIn("nowhere: opening failed", self.refused("score", "hyp", "nowhere", cwd=self.folder, code=1))
        self.assertIn("standard input", self.refused("score", "-", "-", cwd=self.folder))
        self.assertIn("REFERENCES", self.refused("score", "hyp", cwd=self.folder))

    def test_the_numbers_are_sacrebleus(self):
        """With sacrebleu 2.6.0, if this Python has it."""
        try:
            import sacrebleu
        except ImportError:
            raise unittest.SkipTest("this Python has no sacrebleu")
        for references in ([FIRST], [FIRST, SECOND]):
            files = ["a.ref", "b.ref"][:len(references)]
            ours = self.json_of("score", "hyp", *files, "--json", cwd=self.folder)
            for name, metric in (("bleu", sacrebleu.BLEU()), ("chrf", sacrebleu.CHRF())):
                theirs = metric.corpus_score(HYPOTHESES, references)
                self.assertAlmostEqual(ours[name]["score"], theirs.score, places=9)
                self.assertEqual(ours[name]["signature"].rpartition("|version")[0],
                                 str(metric.get_signature()).rpartition("|version")[0])


if __name__ == "__main__":
    command.main()
