#include "cachet/report/text/ascii.h"

#include <gtest/gtest.h>

namespace cachet::report {
namespace {

TEST(AsciiTest, SignsAreSpelledOut) {
  EXPECT_EQ(ascii_text("α σ(λ) 0.5 ± 0.1 – 3×3 … 85 µs → ─"), "alpha sigma(lambda) 0.5 +- 0.1 - 3x3 ... 85 us -> -");
}

TEST(AsciiTest, NamesOfAUserStay) {
  EXPECT_EQ(ascii_text("Bäume/日本.png"), "Bäume/日本.png");
  EXPECT_EQ(ascii_text("broken \xFF bytes \xE2\x80"), "broken \xFF bytes \xE2\x80");
}

}  // namespace
}  // namespace cachet::report
