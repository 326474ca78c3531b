#include "cachet/tasks/samples/shown_text.h"

#include <gtest/gtest.h>

#include "cachet/data/text/encoders/word_vocabulary.h"
#include "cachet/report/text/display_width.h"

namespace cachet::tasks {
namespace {

TEST(ShownText, IsOneLineThatCanBeShown) {
  EXPECT_EQ(shown_text("two\nlines, a\ttab and a \xFF byte"), "two ↵ lines, a?tab and a ? byte");
  EXPECT_EQ(shown_text("grün"), "grün");
  EXPECT_EQ(shown_text(""), "");
}

TEST(ShownText, IsTheBeginningOfALongOne) {
  const std::string shown = shown_text(std::string(5000, 'a'));
  EXPECT_TRUE(shown.starts_with("aaaa"));
  EXPECT_TRUE(shown.ends_with("…"));
  EXPECT_LE(report::display_width(shown), 240);
}

TEST(ShownText, UnknownWordsAreSeen) {
  const data::WordEncoder words("<eos>\t2\nthe\t2\ncat\t1\n<unk>\t0\n", "words.txt");
  EXPECT_EQ(shown_text(words.encode("the dog\nthe cat", 100).tokens, words), "the <unk> ↵ the cat");
}

TEST(ShownText, ManyTokensAreLookedAtAsFarAsTheyAreShown) {
  const data::ByteEncoder bytes;
  const std::string shown = shown_text(bytes.encode(std::string(100'000, 'b'), 100'000).tokens, bytes);
  EXPECT_TRUE(shown.ends_with("b…")) << shown;
}

}  // namespace
}  // namespace cachet::tasks
