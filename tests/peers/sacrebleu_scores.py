"""BLEU and chrF, to the last bit: tests/peers/text_scores.cpp compared with sacreBLEU."""
import json
import logging

from sacrebleu.metrics import BLEU, CHRF

from comparison import ROOT, Found, comparison, drawer, script

logging.getLogger("sacrebleu").setLevel(logging.ERROR)
SENTENCES = 40  # of a corpus
BLEUS = [{"tokens": tokens, "smoothing": smoothing, "effective": effective}
         for tokens in ("13a", "none") for smoothing in ("exp", "none") for effective in (False, True)]
CHRFS = [{"order": order, "beta": beta, "blanks": blanks}
         for order, beta, blanks in ((6, 2, False), (6, 2, True), (4, 3, False), (1, 1, True))]


def corpora(count):
    """Sentences of words, of what the tokenizer treats apart, and of any characters; with one to three references."""
    texts, draw = script(ROOT / "tools/make_text_metric_fixtures.py"), drawer("sacrebleu")

    def any_character():
        first, end = draw.choice(((32, 0x250), (0x4e00, 0x4f00), (0x1f600, 0x1f640), (0x300, 0x310)))
        return chr(draw.choice((draw.randrange(first, end), 0x20, 0x3000, 0xa0, 0x200d)))

    def any_characters():
        return "".join(any_character() for _ in range(draw.randrange(40)))

    kinds = (lambda: texts.drawn_sentence(draw), lambda: texts.drawn_pieces(draw), any_characters)
    for number in range(count):
        kind = kinds[number % len(kinds)]
        references = [[kind() for _ in range(SENTENCES)] for _ in range(1 + number % 3)]
        near = [texts.near(draw, sentence) if draw.random() < 0.8 else sentence for sentence in references[0]]
        yield {"hypotheses": near, "references": references, "bleu": BLEUS, "chrf": CHRFS}


def scored(setting, asked):
    lines = setting.run("text_scores", stdin="".join(json.dumps(corpus) + "\n" for corpus in asked))
    return [json.loads(line) for line in lines.split("\n")[:-1]]


def compare_scores(found, metric, corpus, ours, same, sentences=True):
    theirs = metric.corpus_score(corpus["hypotheses"], corpus["references"])
    pairs = [(ours["corpus"], theirs)]
    for i, (sentence, of_sentence) in enumerate(zip(corpus["hypotheses"], ours["sentences"])):
        if sentences:
            pairs.append((of_sentence, metric.sentence_score(sentence, [stream[i] for stream in corpus["references"]])))
    for our, their in pairs:
        found.add(abs(our["score"] - their.score))
        if not same(our, their):
            raise AssertionError(f"what the scores are made of differs: {our} and {vars(their)}")


@comparison("sacrebleu", "BLEU of corpora and sentences, with every tokenizer and smoothing that Cachet has", allowed=0)
def bleu(setting):
    asked = list(corpora(90))
    found = Found(0)

    def same(our, their):
        return (our["correct"], our["total"], our["precisions"], our["penalty"], our["lengths"], our["text"]) == (
            their.counts, their.totals, their.precisions, their.bp, [their.sys_len, their.ref_len], str(their))

    for corpus, ours in zip(asked, scored(setting, asked)):
        for option, of_option in zip(BLEUS, ours["bleu"]):
            metric = BLEU(tokenize=option["tokens"], smooth_method=option["smoothing"],
                          effective_order=option["effective"], force=True)
            # Cachet scores a single sentence with the effective order alone, as sacrebleu.sentence_bleu does.
            compare_scores(found, metric, corpus, of_option, same, sentences=option["effective"])
    return found


@comparison("sacrebleu", "chrF of corpora and sentences", allowed=0)
def chrf(setting):
    asked = list(corpora(60))
    found = Found(0)
    for corpus, ours in zip(asked, scored(setting, asked)):
        for option, of_option in zip(CHRFS, ours["chrf"]):
            metric = CHRF(char_order=option["order"], beta=option["beta"], whitespace=option["blanks"])
            compare_scores(found, metric, corpus, of_option, lambda our, their: True)
    return found
