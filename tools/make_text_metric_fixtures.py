#!/usr/bin/env python3
"""Writes tests/data/sacrebleu.json: what sacreBLEU makes of sentences drawn from what its tokenizer treats apart, which
the tests of BLEU and chrF hold ours to. Needs sacreBLEU 2.6.0; the file is in the repository, so that nothing else does.

usage: tools/make_text_metric_fixtures.py
"""

import json
import logging
import pathlib
import random
import unicodedata

import numpy
import sacrebleu
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import _bootstrap_resample
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

PIECES = ([chr(code) for code in range(33, 127)] + list("0123456789.,-'") * 3 + [" "] * 40 +
          ["\t", "\n", "-\n", "\r", "\x0b", "\x1c", "\x1f", "\x7f", "\x85", "\xa0", "\u1680", "\u2003", "\u200b", "\u2028",
           "\u202f", "\u205f", "\u3000", "\u2014", "\ufeff", "e\u0301", "\u00e9", "\u1ec7", "e\u0323\u0302", "\U0001f600",
           "<skipped>", "&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "1,000.5", "3-4", "...", ".,", "a.b", "No.7"])
WORDS = "the a cat dog sat ran on under big old mat log , . isn't 3.5 caf\u00e9 cafe\u0301 T\u00fcr \u0111\u01b0\u1eddng 10-12".split()


def drawn_pieces(draw):
    return "".join(draw.choice(PIECES) for _ in range(draw.randrange(0, 30)))


def drawn_sentence(draw, least=0):
    return " ".join(draw.choice(WORDS) for _ in range(draw.randrange(least, 12)))


def near(draw, sentence):
    words = [word for word in sentence.split(" ") if draw.random() > 0.2]
    if words and draw.random() < 0.5:
        words.insert(draw.randrange(len(words)), draw.choice(WORDS))
    return " ".join(words)


def bleu_of(score):
    return {"score": score.score, "precisions": score.precisions, "counts": score.counts, "totals": score.totals,
            "bp": score.bp, "sys_len": score.sys_len, "ref_len": score.ref_len, "text": str(score)}


def deviation(metric, hypotheses, streams):
    """The deviation of the scores of its own resamples: ten times as many as it takes for an interval, so that nearly all
    of what ours differ by is chance in ours."""
    statistics = metric._extract_corpus_statistics(hypotheses, streams)
    _, scores = _bootstrap_resample(statistics, metric, 10000)
    return float(numpy.std([score.score for score in scores], ddof=1))


VIETNAMESE = ["\u0110\u01b0\u1eddng n\u00e0y r\u1ea5t \u0111\u1eb9p, ph\u1ea3i kh\u00f4ng?", "T\u00f4i \u0111\u00e3 \u0111\u1ecdc 1.250 quy\u1ec3n s\u00e1ch v\u1ec1 ng\u1eef ph\u00e1p.",
              "H\u1ecd n\u00f3i: \u201cCh\u00fang ta s\u1ebd \u0111i b\u1ed9 t\u1edbi tr\u01b0\u1eddng.\u201d", "Nh\u1eefng ng\u01b0\u1eddi b\u1ea1n \u1ea5y v\u1eabn c\u00f2n \u1edf l\u1ea1i.",
              "C\u00e1i b\u00e0n, c\u00e1i gh\u1ebf v\u00e0 c\u00e1i t\u1ee7."]


def vietnamese():
    """BLEU and chrF of sentences whose last word is another, with hypotheses and references composed, decomposed and
    after a byte-order mark: nothing is normalized."""
    changed = [" ".join(sentence.split(" ")[:-1] + ["\u1ec7."]) for sentence in VIETNAMESE]
    forms = {"composed": lambda text: unicodedata.normalize("NFC", text),
             "decomposed": lambda text: unicodedata.normalize("NFD", text),
             "marked": lambda text: "\ufeff" + unicodedata.normalize("NFC", text)}
    cases = []
    for given, of_hypothesis in forms.items():
        for asked, of_reference in forms.items():
            hypotheses, references = list(map(of_hypothesis, changed)), list(map(of_reference, VIETNAMESE))
            cases.append({"name": f"{given} for {asked}", "hypotheses": hypotheses, "references": references,
                          "bleu": bleu_of(BLEU().corpus_score(hypotheses, [references])),
                          "chrf": CHRF().corpus_score(hypotheses, [references]).score})
    return cases


def main():
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    draw = random.Random(7)
    tokens = [drawn_pieces(draw) for _ in range(600)]
    references = [[drawn_sentence(draw) for _ in range(60)]]
    hypotheses = [near(draw, sentence) for sentence in references[0]]
    references.append([near(draw, sentence) for sentence in references[0]])
    references.append([drawn_sentence(draw, 1) for _ in range(60)])
    corpora = []
    for streams in (references[:1], references):
        kinds = {}
        for tokenize in ("13a", "none"):
            for smooth in ("exp", "none"):
                for effective in (False, True):
                    metric = BLEU(tokenize=tokenize, smooth_method=smooth, effective_order=effective, force=True)
                    score = bleu_of(metric.corpus_score(hypotheses, streams))
                    score["signature"] = str(metric.get_signature())
                    score["sentences"] = [bleu_of(metric.sentence_score(one, [stream[i] for stream in streams]))
                                          for i, one in enumerate(hypotheses)]
                    kinds[f"{tokenize} {smooth} {'yes' if effective else 'no'}"] = score
        chrfs = []
        for order, beta, blanks in ((6, 2, False), (6, 2, True), (4, 3, False), (1, 1, True)):
            metric = CHRF(char_order=order, beta=beta, whitespace=blanks)
            score = metric.corpus_score(hypotheses, streams)
            chrfs.append({"order": order, "beta": beta, "blanks": blanks, "score": score.score, "text": str(score),
                          "signature": str(metric.get_signature()),
                          "sentences": [metric.sentence_score(one, [stream[i] for stream in streams]).score
                                        for i, one in enumerate(hypotheses)]})
        deviations = {"bleu": deviation(BLEU(), hypotheses, streams), "chrf": deviation(CHRF(), hypotheses, streams)}
        corpora.append({"references": streams, "bleu": kinds, "chrf": chrfs, "deviations": deviations})
    tokenize = Tokenizer13a()
    written = {"sacrebleu": sacrebleu.__version__,
               "tokens": [[text, tokenize(text.rstrip())] for text in tokens],
               "hypotheses": hypotheses, "corpora": corpora, "vietnamese": vietnamese()}
    path = pathlib.Path(__file__).resolve().parent.parent / "tests/data/sacrebleu.json"
    path.write_text(json.dumps(written, ensure_ascii=True, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
