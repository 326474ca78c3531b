#include "cachet/data/text/sequences/given_sequence.h"

#include <gtest/gtest.h>

#include "cachet/data/text/listops/listops.h"
#include "cachet/io/error.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

SequenceDatasetOptions given_options(const SequenceKind* kind, int64_t max_length = 8) {
  return {.kind = kind, .max_length = max_length};
}

std::string given_complaint(SequenceDatasetOptions options, const std::string& text) {
  return test::thrown_message<io::Error>([&] { GivenSequenceReader(options).read(text); });
}

TEST(GivenSequence, IsWhatTheFilesReaderWouldMakeOfIt) {
  GivenSequenceReader expressions(given_options(&kListOps));
  EXPECT_EQ(expressions.read("( ( ( [MIN 6 ) 7 ) ] )").tokens, parse_listops("[MIN 6 7 ]"));
  GivenSequenceReader texts(given_options(&kImdb));
  EXPECT_EQ(texts.read(std::string("a\0\xff", 3)).tokens, (std::vector<Token>{98, 1, 256}));
  EXPECT_TRUE(texts.read("a").second.empty());
  GivenSequenceReader pairs(given_options(&kMatching));
  const GivenSequence pair = pairs.read("a\tbc");
  EXPECT_EQ(pair.tokens, (std::vector<Token>{98}));
  EXPECT_EQ(pair.second, (std::vector<Token>{99, 100}));
}

TEST(GivenSequence, TooLongOnesAreCutAndCountedOrRefused) {
  SequenceDatasetOptions options = given_options(&kMatching, 3);
  GivenSequenceReader reader(options);
  const GivenSequence cut = reader.read("abcdef\tabc");
  EXPECT_EQ(cut.tokens.size(), 3u);
  EXPECT_EQ(reader.read("abcd\tefgh").second.size(), 3u);
  EXPECT_EQ(reader.counts().truncated, 3);
  options.too_long = TooLong::refuse;
  EXPECT_EQ(given_complaint(options, "abcd\ta"),
            "the sequence has more than data.max_length = 3 tokens, which data.too_long = \"refuse\" does not allow");
}

TEST(GivenSequence, SaysWhatIsWrong) {
  SequenceDatasetOptions texts = given_options(&kImdb);
  EXPECT_EQ(given_complaint(texts, ""), "the text is empty");
  texts.text.empty_texts = EmptyText::skip;
  EXPECT_EQ(given_complaint(texts, ""), "the text is empty") << "each sample that is given gets an answer";
  const SequenceDatasetOptions pairs = given_options(&kMatching);
  EXPECT_EQ(given_complaint(pairs, "a\t"), "the text is empty");
  for (const char* text : {"one", "", "a\tb\tc"})
    EXPECT_EQ(given_complaint(pairs, text), "a sample must be two texts with one tab between them") << text;
  EXPECT_EQ(given_complaint(given_options(&kListOps), "[MIN 6 7"), "1 '[' is never closed");
  EXPECT_NE(given_complaint(given_options(&kListOps), "[AVG 6 7 ]").find("'[AVG'"), std::string::npos);
  EXPECT_THROW(GivenSequenceReader(given_options(&kCifar10Pixels)), std::invalid_argument);
}

}  // namespace
}  // namespace cachet::data
