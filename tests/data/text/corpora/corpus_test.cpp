#include "cachet/data/text/corpora/corpus.h"

#include <gtest/gtest.h>

#include "cachet/data/text/encoders/word_vocabulary.h"
#include "cachet/io/error.h"
#include "tests/data/text/parallel_texts.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

/// A folder with texts and a vocabulary of five words.
struct CorpusFolder {
  test::TemporaryDirectory folder;
  CorpusOptions options;

  CorpusFolder() {
    write("words.txt", test::kWordFile);
    options.root = folder.path();
    options.vocabulary = 6;
  }
  void write(const std::string& name, std::string_view text) const { test::write_text(folder / name, text); }
  std::unique_ptr<const TextEncoder> encoder() const { return make_corpus_encoder(options, folder.path()); }
  Corpus open(SequenceSplit split = SequenceSplit::train) const {
    return open_corpus(options, *encoder(), split, folder.path());
  }
  std::string complaint(SequenceSplit split = SequenceSplit::train) const {
    return test::thrown_message<io::Error>([&] { open(split); });
  }
};

std::vector<int64_t> ids_of(const Corpus& corpus) {
  std::vector<int64_t> ids(static_cast<size_t>(corpus.tokens->size()));
  corpus.tokens->read(0, corpus.tokens->size(), ids.data());
  return ids;
}

TEST(Corpus, HasAnEndForEachLine) {
  CorpusFolder texts;
  for (const char* text : {"a b\n\nc who\n", "a b\n\nc who"}) {
    texts.write("train.txt", text);
    const Corpus corpus = texts.open();
    using namespace test;
    EXPECT_EQ(ids_of(corpus), (std::vector<int64_t>{kA, kB, kEos, kEos, kC, kUnk, kEos}));
    EXPECT_EQ(corpus.unknown, 1);
    EXPECT_EQ(corpus.facts.text.bytes, 11);
  }
}

// Bytes that no token tells do not count as coded: unknown words, repeated blanks, blanks around a line.
TEST(Corpus, CountsTheTextThatItsTokensTell) {
  CorpusFolder texts;
  const auto coded_of = [&](const std::string& text) {
    texts.write("valid.txt", text);
    const Corpus corpus = texts.open(SequenceSplit::validation);
    EXPECT_EQ(corpus.facts.text, size_of(text));
    return coded_text(corpus, *texts.encoder(), texts.options.tokens);
  };
  EXPECT_EQ(coded_of("a b\nc d\n"), (CodedCorpus{{1, 1}, {{7, 7}, 0}})) << "all of it; a is not predicted";
  EXPECT_EQ(coded_of("a   b \n  c d\n"), (CodedCorpus{{1, 1}, {{7, 7}, 0}}));
  EXPECT_EQ(coded_of("a who b\nöde ist c\n"), (CodedCorpus{{1, 1}, {{5, 5}, 3}}));
  EXPECT_EQ(coded_of("a <unk> b\n"), (CodedCorpus{{1, 1}, {{9, 9}, 0}})) << "the text itself has the word <unk>";
  EXPECT_EQ(coded_of("who b\n"), (CodedCorpus{{0, 0}, {{2, 2}, 1}}));
  EXPECT_EQ(coded_of("\na\n"), (CodedCorpus{{1, 1}, {{2, 2}, 0}}));
  texts.options.limit = 3;
  texts.write("valid.txt", "a who b\nc d\n");
  const Corpus cut = texts.open(SequenceSplit::validation);
  EXPECT_FALSE(cut.facts.coded);
  EXPECT_EQ(coded_text(cut, *texts.encoder(), texts.options.tokens), (CodedCorpus{{1, 1}, {{1, 1}, 1}}))
      << "tokens are decoded";
  texts.options = {.root = texts.options.root, .tokens = CorpusTokens::bytes, .vocabulary = kByteVocabulary};
  EXPECT_EQ(coded_of("ö \xff  b\n"), (CodedCorpus{{1, 1}, {{7, 6}, 0}})) << "bytes tell everything";
}

TEST(Corpus, KeepsTheFirstShareOfTheTrainingText) {
  CorpusFolder texts;
  for (const char* name : {"train.txt", "valid.txt"}) texts.write(name, "a b\nc d a\nb\n");
  texts.options.fraction = 0.5;
  using namespace test;
  EXPECT_EQ(ids_of(texts.open()), (std::vector<int64_t>{kA, kB, kEos, kC, kD}));
  EXPECT_EQ(texts.open(SequenceSplit::validation).tokens->size(), 9);
  texts.options.limit = 3;
  EXPECT_EQ(texts.open().tokens->size(), 3);
}

TEST(Corpus, HasADigestOfEachToken) {
  CorpusFolder texts;
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += "a b c\n";
  texts.write("train.txt", text);
  const Corpus whole = texts.open();
  text[2] = 'd';  // of the second token, which version 0.1.0 passed over
  texts.write("train.txt", text);
  const Corpus other = texts.open();
  EXPECT_EQ(other.fingerprint(), whole.fingerprint());
  EXPECT_EQ(change_of(whole.digest(), other.digest()), DataChange::contents);
  texts.write("train.txt", "a x\n");
  const DataDigest unknown = texts.open().digest();
  texts.write("train.txt", "a y\n");
  EXPECT_EQ(texts.open().digest().contents, unknown.contents) << "both words are unknown";
  EXPECT_EQ(change_of(unknown, texts.open().digest()), DataChange::contents) << "and another text";
}

TEST(Corpus, ReadsALineOfTenMegabytes) {
  CorpusFolder texts;
  std::string line;
  while (line.size() < 10'000'000) line += "a b ";
  texts.write("train.txt", "c\n" + line + "\nd\n");
  const Corpus words = texts.open();
  ASSERT_EQ(words.tokens->size(), 2 + static_cast<int64_t>(line.size()) / 2 + 1 + 2);
  int64_t last[3];
  words.tokens->read(words.tokens->size() - 3, 3, last);
  EXPECT_EQ((std::vector<int64_t>(last, last + 3)), (std::vector<int64_t>{test::kEos, test::kD, test::kEos}));
  // A line that is longer than a piece of the file, and is one word.
  texts.write("valid.txt", "c\n" + std::string(40'000'000, 'x') + "\nd\n");
  const Corpus word = texts.open(SequenceSplit::validation);
  EXPECT_EQ(ids_of(word), (std::vector<int64_t>{test::kC, test::kEos, test::kUnk, test::kEos, test::kD, test::kEos}));
  texts.options.tokens = CorpusTokens::bytes;
  texts.options.vocabulary = kByteVocabulary;
  EXPECT_EQ(texts.open().tokens->size(), 2 + static_cast<int64_t>(line.size()) + 1 + 2);
}

// Nothing is normalized: one word in two forms is two words, and a byte-order mark belongs to the word behind it.
TEST(Corpus, KeepsCharactersAsTheyAreGiven) {
  CorpusFolder texts;
  const std::string composed = "\u0111\u1eb9p", decomposed = "\u0111e\u0323p", marked = "\uFEFF" + composed;
  texts.write("words.txt", "<eos>\t9\n" + composed + "\t5\n" + decomposed + "\t4\n" + marked + "\t1\n<unk>\t0\n");
  texts.options.vocabulary = 5;
  texts.write("train.txt", marked + " " + composed + "\n" + decomposed + " \u0323\n");
  const Corpus corpus = texts.open();
  EXPECT_EQ(ids_of(corpus), (std::vector<int64_t>{3, 1, 0, 2, 4, 0}));
  const auto encoder = texts.encoder();
  EXPECT_EQ(encoder->decode(std::vector<Token>{3, 1, 0, 2}), marked + " " + composed + "\n" + decomposed);
  EXPECT_TRUE(corpus.begins_with_mark);
  EXPECT_EQ(corpus.notes("training").back(), "training: the text begins with a byte-order mark, which is not removed");
  texts.options.tokens = CorpusTokens::bytes;
  texts.options.vocabulary = kByteVocabulary;
  EXPECT_EQ(ids_of(texts.open()).front(), 0xEF + 1);
  texts.write("train.txt", composed + "\n");
  EXPECT_FALSE(texts.open().begins_with_mark);
}

TEST(Corpus, SaysWhatIsWrongWithFiles) {
  CorpusFolder texts;
  const std::string root = texts.folder.path().string();
  EXPECT_EQ(texts.complaint(), root +
                                   ": has no text for the split train: neither wiki.train.tokens nor train.txt (plain, "
                                   ".gz or .xz); see data.root");
  for (const char* text : {"", "a"}) {
    texts.write("train.txt", text);
    if (*text == '\0') {
      EXPECT_EQ(texts.complaint(),
                root +
                    "/train.txt: the number of tokens is 0. A text needs at least two tokens, because the model "
                    "predicts each token from the tokens before it");
    }
  }
  EXPECT_EQ(texts.open().tokens->size(), 2) << "a word and its line's end";
  texts.options.vocabulary = 7;
  EXPECT_EQ(texts.complaint(), root + "/words.txt: has 6 tokens, but the recipe has data.vocabulary = 7");
  texts.options.vocabulary = 6;
  texts.options.vocabulary_hash = std::string(64, '0');
  EXPECT_EQ(texts.complaint(),
            root + "/words.txt: is not the vocabulary of the recipe: its hash differs from data.vocabulary_hash, " +
                std::string(64, '0'));
  texts.options.vocabulary_hash.clear();
  // A file of tokens that were made of another vocabulary of as many words.
  const auto tokens = texts.folder / token_file_name(SequenceSplit::train);
  TokenFileWriter writer(tokens, {.size = 6, .fingerprint = "another"});
  writer.add(std::vector<Token>{1, 2, 3});
  writer.finish();
  EXPECT_EQ(texts.complaint(), tokens.string() +
                                   ": its tokens belong to another vocabulary, which has 6 tokens; make the file again "
                                   "with `cachet data tokens` and the vocabulary of the recipe");
  texts.write("words.txt", "");
  EXPECT_NE(texts.complaint().find("contains no words"), std::string::npos);
}

}  // namespace
}  // namespace cachet::data
