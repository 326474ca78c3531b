#include "cachet/data/text/encoders/unicode_normalization.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "cachet/data/text/encoders/normalizing_encoder.h"
#include "cachet/data/text/encoders/subword_encoder.h"
#include "cachet/data/text/encoders/subword_training.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "tests/data/text/parallel_texts.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

using enum TextNormalization;

std::string utf8_of(char32_t character) {
  std::string text;
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (character >> shift & 0x3F)); };
  if (character < 0x80) {
    text += static_cast<char>(character);
  } else if (character < 0x800) {
    text += static_cast<char>(0xC0 | character >> 6);
    tail(0);
  } else {
    text += static_cast<char>(0xE0 | character >> 12);
    tail(6);
    tail(0);
  }
  return text;
}

// The hash of the forms of many texts, a line each. Those below are of Python's unicodedata (Unicode 14), where no
// character's form changes any more.
class HashOfForms {
 public:
  explicit HashOfForms(TextNormalization form) : form_(form) {}
  void add(const std::string& text) { all_ += normalized(text, form_) + "\n"; }
  void add_range(char32_t first, char32_t end) {
    for (char32_t c = first; c < end; ++c) add(utf8_of(c));
  }
  std::string hash() const { return io::sha256_hex(all_); }

 private:
  TextNormalization form_;
  std::string all_;
};

TEST(Normalization, HasTheFormsOfUnicode) {
  HashOfForms nfc(TextNormalization::nfc), nfkc(TextNormalization::nfkc);
  nfc.add_range(0, 0xD800);
  nfc.add_range(0xE000, 0x10000);
  EXPECT_EQ(nfc.hash(), "451fc20fd3816b4e1bb406f0d8006918fd412a07ac6ab785e64d81e8635957c4");
  nfkc.add_range(0, 0x2000);
  nfkc.add_range(0xAC00, 0xD7A4);
  nfkc.add_range(0xF900, 0x10000);
  EXPECT_EQ(nfkc.hash(), "d44d69affde0cbf3a24810dcd4790b9c107b4a0d016dee340317a20a432bc42d");
}

TEST(Normalization, ComposesRowsOfMarksAndJamo) {
  HashOfForms marks(nfc), jamo(nfc);
  const auto add_marked = [&](char32_t letter) {
    const std::string base = utf8_of(letter);
    for (char32_t mark = 0x300; mark < 0x346; ++mark) {
      marks.add(base + utf8_of(mark));
      marks.add(base + utf8_of(mark) + "\u0323");
      marks.add(base + "\u0327" + utf8_of(mark) + "\u0301");
    }
  };
  for (char32_t c = 0x41; c < 0x250; ++c) add_marked(c);
  for (char32_t c = 0x1E00; c < 0x1F00; ++c) add_marked(c);
  EXPECT_EQ(marks.hash(), "dfec8d867c264a83e609f55d5a0dc3e48ea4eb1218bf85e634119010ca2fe4dd");
  for (char32_t lead = 0x1100; lead < 0x1113; ++lead)
    for (char32_t vowel = 0x1161; vowel < 0x1176; ++vowel) {
      const std::string syllable = utf8_of(lead) + utf8_of(vowel);
      jamo.add(syllable);
      for (const char* tail : {"\u11A7", "\u11A8", "\u11C2"}) jamo.add(syllable + tail);
    }
  EXPECT_EQ(jamo.hash(), "781c309144b71ea9a2a10c95128ad8776b42002c126202c436398e138cf48d28");
}

TEST(Normalization, LeavesTheRestAsItIs) {
  using namespace std::string_literals;
  EXPECT_EQ(normalized("Vie\u0323\u0302t", none), "Vie\u0323\u0302t");
  EXPECT_EQ(normalized("Vie\u0323\u0302t", nfc), "Vi\u1EC7t");
  EXPECT_EQ(normalized("Vie\u0302\u0323t", nfc), "Vi\u1EC7t") << "marks in another order";
  EXPECT_EQ(normalized("\u00BD\u00A0\uFB01", nfc), "\u00BD\u00A0\uFB01");
  EXPECT_EQ(normalized("\u00BD\u00A0\uFB01", nfkc), "1\u20442 fi");
  EXPECT_EQ(normalized("", nfc), "");
  EXPECT_EQ(normalized("\u0301 \u0301a", nfc), "\u0301 \u0301a") << "marks without a letter";
  EXPECT_EQ(normalized("a\0e\u0301\n\0"s, nfc), "a\0\u00E9\n\0"s);
  EXPECT_EQ(normalized("\uFEFFe\u0301", nfkc), "\uFEFF\u00E9") << "a byte-order mark stays";
  // Bytes that are no UTF-8 part a letter from its mark: overlong, surrogates, cut off, above the last character.
  for (const std::string wrong : {"\xFF", "\xC0\x80", "\xED\xA0\x80", "\xE1\xBB", "\xF4\x90\x80\x80"}) {
    EXPECT_EQ(normalized("e" + wrong + "\u0301e\u0301" + wrong, nfc), "e" + wrong + "\u0301\u00E9" + wrong);
    EXPECT_EQ(normalized(wrong, nfkc), wrong);
  }
  std::string all;
  for (char32_t c = 0x80; c < 0x10000; ++c)
    if (c < 0xD800 || c >= 0xE000) all += utf8_of(c);
  for (const TextNormalization form : {nfc, nfkc})
    EXPECT_EQ(normalized(all, form).find_first_of("\n\r\t\0"s), std::string::npos) << "no control character comes";
}

// What a text is cut into inside must not show; a row of marks must not take the square of its length.
TEST(Normalization, TakesTenMegabytes) {
  std::string marks = "e", letters, composed;
  for (int i = 0; i < 2'500'000; ++i) marks += i < 1'250'000 ? "\u0301" : "\u0323";
  while (letters.size() < 10'000'000) {
    letters += "Vie\u0323\u0302t ";
    composed += "Vi\u1EC7t ";
  }
  const auto start = std::chrono::steady_clock::now();
  const std::string ordered = normalized(marks, nfc);
  EXPECT_TRUE(ordered.starts_with("\u1EB9\u0323"));
  EXPECT_TRUE(ordered.ends_with("\u0301"));
  EXPECT_EQ(normalized(letters, nfc), composed);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1));
}

constexpr const char* kComposedWords = "<eos>\t9\n\u0111\u1EB9p\t5\nVi\u1EC7t\t4\n<unk>\t0\n";
constexpr const char* kComposedText = "\u0111\u1EB9p Vi\u1EC7t\nVi\u1EC7t\n";
constexpr const char* kDecomposedText = "\u0111e\u0323p Vie\u0323\u0302t\nVie\u0302\u0323t\n";

CorpusOptions corpus_of(const std::filesystem::path& folder, CorpusTokens tokens, TextNormalization form) {
  CorpusOptions options;
  options.root = folder;
  options.tokens = tokens;
  options.normalization = form;
  return options;
}

std::vector<int64_t> ids_in(const std::filesystem::path& folder, const CorpusOptions& options, SequenceSplit split) {
  const auto encoder = make_corpus_encoder(options, folder);
  const Corpus corpus = open_corpus(options, *encoder, split, folder);
  std::vector<int64_t> ids(static_cast<size_t>(corpus.tokens->size()));
  corpus.tokens->read(0, corpus.tokens->size(), ids.data());
  return ids;
}

TEST(NormalizedCorpus, BothSpellingsAreTheSameTokens) {
  test::TemporaryDirectory folder;
  test::write_text(folder / "words.txt", kComposedWords);
  test::write_text(folder / "train.txt", kComposedText);
  test::write_text(folder / "test.txt", kDecomposedText);
  for (const CorpusTokens tokens : {CorpusTokens::words, CorpusTokens::bytes}) {
    const auto both = [&](TextNormalization form) {
      const CorpusOptions options = corpus_of(folder.path(), tokens, form);
      return std::pair(ids_in(folder.path(), options, SequenceSplit::train),
                       ids_in(folder.path(), options, SequenceSplit::test));
    };
    for (const TextNormalization form : {nfc, nfkc}) {
      const auto [composed, decomposed] = both(form);
      EXPECT_EQ(composed, decomposed);
    }
    const auto [composed, decomposed] = both(none);
    EXPECT_NE(composed, decomposed);
    EXPECT_EQ(composed, both(nfc).first) << "of text that has the form already, the tokens stay";
  }
  // The text is counted in the form that is predicted.
  const CorpusOptions options = corpus_of(folder.path(), CorpusTokens::words, nfc);
  const auto encoder = make_corpus_encoder(options, folder.path());
  EXPECT_EQ(encode_corpus(kDecomposedText, *encoder, CorpusTokens::words, CountCoded::no).text.bytes,
            static_cast<int64_t>(std::string_view(kComposedText).size()));
  EXPECT_EQ(encode_corpus(kDecomposedText, *encoder, CorpusTokens::words, CountCoded::no).coded.unknown, 0);
  const Corpus composed = open_corpus(options, *encoder, SequenceSplit::train, folder.path());
  const Corpus decomposed = open_corpus(options, *encoder, SequenceSplit::test, folder.path());
  EXPECT_EQ(composed.facts.tokens, decomposed.facts.tokens);
  EXPECT_EQ(composed.facts.text, decomposed.facts.text);
  EXPECT_EQ(composed.fingerprint(), decomposed.fingerprint());
  const CorpusOptions plain = corpus_of(folder.path(), CorpusTokens::words, none);
  EXPECT_NE(
      open_corpus(plain, *make_corpus_encoder(plain, folder.path()), SequenceSplit::train, folder.path()).fingerprint(),
      composed.fingerprint())
      << "a run must not go on with another form";
}

TEST(NormalizedCorpus, RefusesWhatWasMadeOfOtherText) {
  test::TemporaryDirectory folder;
  test::write_text(folder / "words.txt", "<eos>\t9\na\t5\nVie\u0323\u0302t\t4\n<unk>\t0\n");
  const auto complaint = [&](TextNormalization form) {
    const CorpusOptions options = corpus_of(folder.path(), CorpusTokens::words, form);
    return test::thrown_message<io::Error>([&] { ids_in(folder.path(), options, SequenceSplit::train); });
  };
  EXPECT_EQ(complaint(nfc), (folder / "words.txt").string() +
                                ": its token 2, \"Vie\u0323\u0302t\", is not in the form of data.normalize, nfc; make "
                                "the vocabulary with --normalize nfc");
  test::write_text(folder / "words.txt", kComposedWords);
  const auto file = folder / token_file_name(SequenceSplit::train);
  const auto encoder = make_corpus_encoder(corpus_of(folder.path(), CorpusTokens::words, nfc), folder.path());
  TokenFileWriter writer(file, encoder->vocabulary());
  writer.add(std::vector<Token>{1, 2, 0});
  writer.finish();
  EXPECT_EQ(complaint(nfc), "(nothing thrown)");
  EXPECT_EQ(complaint(none), file.string() +
                                 ": was made with --normalize nfc, but the recipe has data.normalize = \"none\"; "
                                 "`cachet data tokens --normalize none` makes it again");
  EXPECT_NE(complaint(nfkc), "(nothing thrown)");
}

TEST(NormalizedPairs, AreTheSameWhateverTheirSpelling) {
  test::ParallelFolder texts;
  texts.write("words.txt", kComposedWords);
  texts.options.source_vocabulary.size = texts.options.target_vocabulary.size = 4;
  texts.write("train.de", kComposedText);
  texts.write("train.en", kDecomposedText);
  texts.write("test.de", kDecomposedText);
  texts.write("test.en", std::string("\uFEFFe\u0301\xFF\n") + "Vie\u0323\u0302t\n");
  const auto same = [&] {
    const auto corpus = texts.open();
    return corpus->tokens(ParallelSide::source, 0) == corpus->tokens(ParallelSide::target, 0) &&
           corpus->tokens(ParallelSide::source, 1) == corpus->tokens(ParallelSide::target, 1);
  };
  EXPECT_FALSE(same());
  texts.options.normalization = nfc;
  EXPECT_TRUE(same());
  const auto held_out = texts.open(SequenceSplit::test);
  EXPECT_EQ(held_out->texts(ParallelSide::source).at(0), "\u0111\u1EB9p Vi\u1EC7t");
  EXPECT_EQ(held_out->texts(ParallelSide::target), (std::vector<std::string>{"\uFEFF\u00E9\xFF", "Vi\u1EC7t"}))
      << "sentences to compare with are in the form, too; what is no UTF-8 and a byte-order mark stay";
  EXPECT_EQ(held_out->notes("test").back(),
            "test: en: all sentences are normalised to the form nfc, also the reference sentences");
  // Files of tokens keep the form that they were made with.
  const ParallelFiles into{texts.folder / "train.de.tokens-cachet", texts.folder / "train.en.tokens-cachet"};
  write_parallel_token_files({texts.folder / "train.de", texts.folder / "train.en"}, texts.options, texts.encoders(),
                             into);
  EXPECT_TRUE(same());
  texts.options.normalization = nfkc;
  EXPECT_EQ(test::thrown_message<io::Error>([&] { texts.open(); }),
            into.source.string() +
                ": was made with --normalize nfc, but the recipe has data.normalize = \"nfkc\"; `cachet data tokens "
                "--normalize nfkc` makes it again");
}

#ifdef CACHET_SUBWORDS

TEST(NormalizedSubwords, KeepCharactersOfOneSpelling) {
  std::vector<std::string> composed, decomposed;
  test::TemporaryDirectory folder;
  for (const char* more : {"a", "o", "u", "an", "on", "un"}) {
    composed.push_back(std::string("Vi\u1EC7t ") + more + " \u0111\u1EB9p");
    decomposed.push_back(std::string("Vie\u0323\u0302t ") + more + " \u0111e\u0323p");
  }
  std::string lines;
  for (const std::string& line : decomposed) lines += line + "\n";
  test::write_text(folder / "text", lines);
  EXPECT_EQ(read_training_texts({folder / "text"}, 0, nfc).texts, composed);
  EXPECT_EQ(read_training_texts({folder / "text"}, 0).texts, decomposed);
  const SubwordOptions options{.vocabulary = 24, .begin_and_end = true, .keep_characters = true};
  const auto encoder = [&](const std::vector<std::string>& texts, TextNormalization form) {
    return with_normalization(std::make_unique<SubwordEncoder>(train_subwords(texts, options), "m"), form, "m");
  };
  const auto normalizing = encoder(composed, nfc);
  EXPECT_EQ(normalizing->encode(composed[0], 1000).tokens, normalizing->encode(decomposed[0], 1000).tokens);
  EXPECT_EQ(normalizing->encode("e\xFF", 1000).replaced, 1);
  const auto plain = encoder(composed, none);
  EXPECT_NE(plain->encode(composed[0], 1000).tokens, plain->encode(decomposed[0], 1000).tokens);
}

#endif

}  // namespace
}  // namespace cachet::data
