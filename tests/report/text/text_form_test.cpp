#include "cachet/report/text/text_form.h"

#include <gtest/gtest.h>

#include "tests/report/pseudo_terminal.h"

namespace cachet::report {
namespace {

class TextFormTest : public ::testing::Test {
 protected:
  void SetUp() override {
    test::Channel channel;
    if (openpty(&channel.outer, &channel.inner, nullptr, nullptr, nullptr) != 0) GTEST_SKIP() << "no pseudo-terminals";
  }

 private:
  test::EnvironmentVariable term_{"TERM", "dumb"}, locale_{"LC_ALL", "C.UTF-8"}, columns_{"COLUMNS", nullptr};
};

TEST_F(TextFormTest, ATerminalSaysHowWideItIs) {
  const test::Terminal terminal(72);
  EXPECT_EQ(TextForm::of(terminal.inner).columns, 72);
  EXPECT_FALSE(TextForm::of(terminal.inner).whole);
  for (const auto& [wished, columns] : {std::pair("50", 50), {"", 72}, {"0", 72}, {"-3", 72}, {"12x", 72}}) {
    const test::EnvironmentVariable variable("COLUMNS", wished);
    EXPECT_EQ(TextForm::of(terminal.inner).columns, columns) << wished;
  }
}

TEST_F(TextFormTest, ALocaleSaysWhichSignsThereAre) {
  const test::Terminal terminal(72);
  EXPECT_TRUE(TextForm::of(terminal.inner).unicode);
  const test::EnvironmentVariable locale("LC_ALL", "C");
  EXPECT_FALSE(TextForm::of(terminal.inner).unicode);
}

TEST_F(TextFormTest, WhatIsNoTerminalGetsAll) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const test::EnvironmentVariable locale("LC_ALL", "C"), columns("COLUMNS", "40");
  const TextForm form = TextForm::of(ends[1]);
  EXPECT_TRUE(form.whole);
  EXPECT_TRUE(form.unicode);
  EXPECT_EQ(form.columns, 100);
  for (const int end : ends) close(end);
}

TEST_F(TextFormTest, AParagraphIsWrappedOrWhole) {
  EXPECT_EQ(text_paragraph("one ± two", {}), "one ± two\n");
  EXPECT_EQ(text_paragraph("one ± two", {.columns = 6, .whole = false, .unicode = false}), "one +-\ntwo\n");
}

}  // namespace
}  // namespace cachet::report
