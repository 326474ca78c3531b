#include "cachet/data/text/encoders/word_vocabulary.h"

#include <gtest/gtest.h>

#include "cachet/io/error.h"
#include "tests/support/thrown_message.h"

namespace cachet {
namespace {

using data::CountedWord;
using data::WordCounter;
using data::WordEncoder;

WordCounter counted(std::initializer_list<std::string_view> lines) {
  WordCounter counter;
  for (const std::string_view line : lines) counter.add_line(line);
  return counter;
}

TEST(WordCounter, RefusesAWordThatNoVocabularyHas) {
  WordCounter counter = counted({"a b", std::string(data::kMaxWordBytes, 'x')});
  EXPECT_EQ(counter.tokens(), 5);
  EXPECT_EQ(
      test::thrown_message<io::Error>([&] { counter.add_line("a " + std::string(data::kMaxWordBytes + 1, 'x')); }),
      "line 3: a word has 65537 bytes; the maximum for a word of a vocabulary is 65536");
}

TEST(WordVocabulary, IsOrderedByCountBehindTheEndOfLine) {
  const WordCounter counter = counted({" b a b ", "", "c\ta <unk> b", "d d\r"});
  EXPECT_EQ(counter.tokens(), 13);
  EXPECT_EQ(counter.words(),
            (std::vector<CountedWord>{{"<eos>", 4}, {"b", 3}, {"a", 2}, {"d", 2}, {"c", 1}, {"<unk>", 1}}))
      << "words that come equally often stand in the order in which they came";
}

TEST(WordVocabulary, WhatIsRareIsUnknown) {
  const WordCounter counter = counted({"a a a b b c", "<unk>"});
  EXPECT_EQ(counter.words(4), (std::vector<CountedWord>{{"<eos>", 2}, {"a", 3}, {"b", 2}, {"<unk>", 2}}));
  EXPECT_EQ(counter.words(data::kMaxTokens, 2), counter.words(4));
  EXPECT_EQ(counter.words(2), (std::vector<CountedWord>{{"<eos>", 2}, {"<unk>", 7}}));
  EXPECT_EQ(counted({"a", "b <eos>"}).words(),
            (std::vector<CountedWord>{{"<eos>", 3}, {"a", 1}, {"b", 1}, {"<unk>", 0}}));
  EXPECT_EQ(counted({}).words(), (std::vector<CountedWord>{{"<eos>", 0}, {"<unk>", 0}}));
}

TEST(WordVocabulary, AFileIsReadAsItWasWritten) {
  const auto words = counted({"über b\xff a", "a"}).words();
  EXPECT_EQ(data::parse_words(data::words_text(words), "w"), words) << "bytes are words, whatever they are";
}

TEST(WordVocabulary, NamesTheLineThatIsWrong) {
  const auto refuses = [](std::string_view text, std::string_view why) {
    EXPECT_EQ(test::thrown_message<io::Error>([&] { data::parse_words(text, "w.txt"); }), why);
  };
  refuses("", "w.txt: contains no words; make the file with `cachet data words`");
  refuses("<eos>\t1", "w.txt:1: the last line has no line end: the file may be truncated");
  refuses("a\t1\n<unk>\t1\n", "w.txt:1: must be <eos>, which marks the end of each line of a text, not 'a'");
  refuses("<eos>\t1\na\t1\n", "w.txt: must contain <unk>, which replaces unknown words");
  refuses("<eos>\t1\nab\n", "w.txt:2: must be a word, a tab and a count, not 'ab'");
  refuses("<eos>\t1\na\t1x\n", "w.txt:2: the count must be a number, not '1x'");
  refuses("<eos>\t1\na\t-1\n", "w.txt:2: the count must be a number, not '-1'");
  refuses("<eos>\t1\na\t99999999999999999999\n", "w.txt:2: the count must be a number, not '99999999999999999999'");
  refuses("<eos>\t1\na\t1\na\t1\n", "w.txt:3: 'a' is already in line 2");
  refuses("<eos>\t1\n\t1\n", "w.txt:2: a word must have 1 to 65536 bytes and no space, not ''");
  refuses("<eos>\t1\na b\t1\n", "w.txt:2: a word must have 1 to 65536 bytes and no space, not 'a b'");
}

TEST(WordEncoder, EncodesLinesAndDecodesThem) {
  const WordEncoder encoder("<eos>\t2\na\t2\nb\t1\n<unk>\t0\n", "w");
  EXPECT_EQ(encoder.vocabulary().size, 4);
  EXPECT_EQ(encoder.vocabulary().fingerprint.size(), 64u);
  EXPECT_EQ(encoder.vocabulary().special.unknown, 3);
  const auto encoded = encoder.encode(" a  b\n\nzebra a", 100);
  EXPECT_EQ(encoded.tokens, (std::vector<data::Token>{1, 2, 0, 0, 3, 1}));
  EXPECT_EQ(encoder.decode(encoded.tokens), "a b\n\n<unk> a");
  EXPECT_EQ(encoder.encode("a <eos> b", 100).tokens, (std::vector<data::Token>{1, 0, 2}));
  EXPECT_GE(encoder.encode("a\na\na\na\na\na\n", 3).tokens.size(), 4u) << "what is too long is seen to be";
  EXPECT_TRUE(encoder.encode("", 10).tokens.empty());
}

}  // namespace
}  // namespace cachet
