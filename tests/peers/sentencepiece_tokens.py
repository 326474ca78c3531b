"""Subword models and the tokens of lines: `cachet data subwords` and `cachet data tokens` compared with SentencePiece."""
import io
import struct
import unicodedata

import sentencepiece

from comparison import ROOT, Found, comparison, drawer

MODELS = [(kind, keep) for kind in ("bpe", "unigram") for keep in (False, True)]
VOCABULARY = 2000
LINES = 12_000  # for each model


def training_lines():
    """The documentation of the repository, which is English, code and some signs."""
    text = "\n".join(path.read_text() for path in sorted((ROOT / "docs").glob("*.md")) if path.name != "peers.md")
    return [line for line in text.split("\n") if line.strip()]


MADE = {}  # what was trained already


def made_model(setting, kind, keep):
    """A folder with the model."""
    folder = setting.folder(f"{kind}-{keep}")
    if (kind, keep) not in MADE:
        (folder / "train.txt").write_text("\n".join(training_lines()) + "\n")
        setting.cachet("data", "subwords", "--train", folder / "train.txt", "--vocabulary", VOCABULARY, "--type", kind,
                       "--line-ends", "-o", folder / "subwords.model", *(["--keep-characters"] if keep else []))
        MADE[kind, keep] = (folder / "subwords.model").read_bytes()
    (folder / "subwords.model").write_bytes(MADE[kind, keep])
    return folder


@comparison("sentencepiece", "models that are trained: pieces, scores and kinds of pieces", allowed=0)
def models(setting):
    found = Found(0)
    for kind, keep in MODELS:
        folder = made_model(setting, kind, keep)
        theirs = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(training_lines()), model_writer=theirs, vocab_size=VOCABULARY, model_type=kind, pad_id=0,
            unk_id=1, bos_id=2, eos_id=3, max_sentence_length=1 << 26, num_threads=4, minloglevel=2,
            normalization_rule_name="identity" if keep else "nmt_nfkc")
        their, our = (sentencepiece.SentencePieceProcessor(model_proto=model) for model in
                      (theirs.getvalue(), (folder / "subwords.model").read_bytes()))
        found.add(abs(their.vocab_size() - our.vocab_size()))
        for i in range(min(their.vocab_size(), our.vocab_size())):
            same = their.id_to_piece(i) == our.id_to_piece(i) and their.is_control(i) == our.is_control(i)
            found.add(abs(their.get_score(i) - our.get_score(i)) if same else 1)
    return found


def drawn_line(draw, sentences):
    """A line of one of the kinds that SentencePiece's own tests have: words, blanks, forms of characters, controls."""
    def characters(*ranges):
        return "".join(chr(draw.randrange(*draw.choice(ranges))) for _ in range(draw.randrange(60)))

    sentence = draw.choice(sentences)
    return draw.choice((
        lambda: sentence,
        lambda: unicodedata.normalize("NFD", sentence),
        lambda: "".join(chr(ord(c) + 0xfee0) if "!" <= c <= "~" else c for c in sentence),  # full width
        lambda: sentence.replace(" ", draw.choice(("  ", "\t", "\u3000", "\u00a0", "\u2003 ", " \u200b", "\u2581"))),
        lambda: " " * draw.randrange(5) + sentence[:draw.randrange(40)] + " " * draw.randrange(5),
        lambda: characters((0x20, 0x7f), (0xa0, 0x250)),
        lambda: characters((0x300, 0x370), (0x61, 0x7b)),  # marks
        lambda: characters((0x4e00, 0x9fff), (0x3040, 0x30ff), (0xac00, 0xd7a4), (0xff01, 0xff9f)),
        lambda: characters((0x590, 0x700), (0x900, 0xe80), (0x1100, 0x1200)),
        lambda: characters((0x1f300, 0x1fb00), (0x200b, 0x2010), (0xfe00, 0xfe10), (0x1f1e6, 0x1f200)),
        lambda: characters((0x2000, 0x2600), (0xfb00, 0xfb50), (0x3200, 0x3400)),  # what NFKC replaces
        lambda: characters((0x1, 0xa), (0xe, 0x20), (0x7f, 0xa0), (0x61, 0x7b)),  # controls
        lambda: characters((0x10000, 0x1f000), (0xe000, 0xf900), (0xfdd0, 0xfdf0), (0xfffd, 0xffff)),
        lambda: draw.choice(("<s>", "</s>", "<unk>", "<pad>", "", "\u2585", "\ufeff")) + sentence[:draw.randrange(20)],
        lambda: draw.choice(("ab", "\u4f60", "1")) * draw.randrange(300),
    ))()


def tokens_of(path, end):
    """The tokens of each line, from a file of tokens (cachet/data/text/corpora/token_file.h)."""
    data = path.read_bytes()
    magic, width, header, _, count = struct.unpack_from("<8sIIQQ", data)
    assert magic == b"CACHTOK2", magic
    lines, line = [], []
    for token in struct.unpack_from(f"<{count}{'H' if width == 2 else 'I'}", data, header):
        if token == end:
            lines.append(line)
            line = []
        else:
            line.append(token)
    assert not line, "the last line has no end"
    return lines


def encoded(setting, folder, lines):
    """What `cachet data tokens` makes of lines of bytes."""
    corpus = folder / "corpus"
    corpus.mkdir()
    for name in ("train", "valid", "test"):
        (corpus / f"{name}.txt").write_bytes(b"".join(line + b"\n" for line in (lines if name == "train" else lines[:1])))
    setting.cachet("data", "tokens", corpus, "--tokens", "subwords", "--vocabulary-file", folder / "subwords.model", "-o",
                   folder / "out")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "subwords.model"))
    return processor, tokens_of(folder / "out/train.tokens-cachet", processor.eos_id())


@comparison("sentencepiece", "tokens of lines of valid UTF-8", allowed=0, unit=" lines")
def valid_lines(setting):
    found, sentences = Found(0), training_lines()
    for kind, keep in MODELS:
        draw = drawer(f"sentencepiece {kind} {keep}")
        lines = [drawn_line(draw, sentences) for _ in range(LINES)]
        processor, ours = encoded(setting, made_model(setting, kind, keep), [line.encode() for line in lines])
        theirs = processor.encode(lines)
        assert len(ours) == len(theirs), f"{len(lines)} lines became {len(ours)}"
        found.cases += len(lines)
        found.difference += sum(our != their for our, their in zip(ours, theirs))
    return found


def damaged(draw, line):
    """The bytes of a line with some of them changed, left out or put in, but for line ends."""
    data = bytearray(line.encode())
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(data) + 1)
        data[at:at + draw.randrange(2)] = bytes(draw.choice((0x80, 0xbf, 0xc0, 0xc3, 0xe2, 0xed, 0xf0, 0xf5, 0xff))
                                                for _ in range(draw.randrange(3)))
    return bytes(data)


def with_replacements(data):
    """U+FFFD for each byte that begins no character, as Cachet reads them."""
    text = ""
    while True:
        try:
            return text + data.decode()
        except UnicodeDecodeError as error:
            text += data[:error.start].decode() + "\ufffd"
            data = data[error.start + 1:]


@comparison("sentencepiece", "tokens of lines that are not UTF-8, with U+FFFD for each wrong byte", allowed=0, unit=" lines")
def invalid_lines(setting):
    found, sentences, raw = Found(0), training_lines(), 0
    for kind, keep in MODELS:
        draw = drawer(f"sentencepiece bytes {kind} {keep}")
        lines = [damaged(draw, drawn_line(draw, sentences)) for _ in range(LINES // 4)]
        processor, ours = encoded(setting, made_model(setting, kind, keep), lines)
        assert len(ours) == len(lines), f"{len(lines)} lines became {len(ours)}"
        for line, our in zip(lines, ours):
            found.cases += 1
            found.difference += our != processor.encode(with_replacements(line))
            raw += our != processor.encode(line)
    found.note = f"with the raw bytes, {raw:,} lines differ"
    return found
