#!/usr/bin/env python3
"""BLEU of 100,000 sentences compared with sacreBLEU's: bleu.py PATH/TO/bleu_benchmark [--rounds N] [--sentences N] [--seed N]
[--folder FOLDER]

Needs an interpreter that has sacrebleu. The sentences are drawn by a seed: words as often as they come in texts, with
numbers, points and quotation marks that the tokenizer parts; a hypothesis is its reference with words changed, left out
and moved. The two take turns; prints CSV: time of sacrebleu.corpus_bleu ÷ ours, above 1 ours is faster. Ends with 1 if
the scores are not the same to the last digit.
"""
import argparse
import pathlib
import random
import sys
import tempfile
import time

import sacrebleu

from measurements import median, print_row, ratio_columns
from served_program import ServedProgram

WORDS, MIDDLE = 20000, 22


def vocabulary(draw):
    letters = "eeeeaaaiioonnrrtttsslldducmpgbvhfqyxjkwzéèüöäßœ"
    return ["".join(draw.choice(letters) for _ in range(draw.randint(1, 11))) for _ in range(WORDS)]


def reference(draw, words):
    """The n-th word has a frequency of about 1/n."""
    sentence = [words[min(int(WORDS ** draw.random()) - 1, WORDS - 1)] for _ in range(max(1, round(draw.gauss(MIDDLE, 8))))]
    for place in range(len(sentence)):
        odds = draw.random()
        if odds < 0.02:
            sentence[place] = f"{draw.randint(1, 999)},{draw.randint(0, 999):03d}.{draw.randint(0, 9)}"
        elif odds < 0.03:
            sentence[place] = f'"{sentence[place]}"'
        elif odds < 0.04:
            sentence[place] += draw.choice([" &amp;", "-und", " (sic)", "…", "%", "'s"])
        elif odds < 0.08:
            sentence[place] += ","
    return " ".join(sentence).capitalize() + draw.choice([".", ".", ".", "!", "?", " ."])


def hypothesis(draw, words, of):
    sentence = []
    for word in of.split():
        odds = draw.random()
        if odds < 0.12:
            word = draw.choice(words)
        if odds < 0.95:
            sentence.append(word)
    if len(sentence) > 4 and draw.random() < 0.5:
        cut = draw.randint(1, len(sentence) - 1)
        sentence = sentence[cut:] + sentence[:cut]
    return " ".join(sentence)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    words = vocabulary(draw)
    references = [reference(draw, words) for _ in range(arguments.sentences)]
    hypotheses = [hypothesis(draw, words, of) for of in references]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(arguments.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "hypotheses.txt").write_text("".join(line + "\n" for line in hypotheses))
        (folder / "references.txt").write_text("".join(line + "\n" for line in references))
        ours = ServedProgram([arguments.program, "--serve", str(folder)])
        own, other = [], []
        for _ in range(arguments.rounds):
            milliseconds, score = map(float, ours.ask("score").split())
            start = time.perf_counter()
            found = sacrebleu.corpus_bleu(hypotheses, [references], force=True)
            other.append(1e3 * (time.perf_counter() - start))
            own.append(milliseconds)
            if found.score != score:
                sys.exit(f"the scores differ: sacreBLEU's is {found.score!r}, ours {score!r}")
        ours.close()
    print_row(sentences=arguments.sentences, bleu=repr(found.score), peer=f"sacreBLEU {sacrebleu.__version__}", threads=1,
              ms=median(own, 0), peer_ms=median(other, 0), **ratio_columns(other, own))


if __name__ == "__main__":
    main()
