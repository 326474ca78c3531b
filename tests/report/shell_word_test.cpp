#include "cachet/report/shell_word.h"

#include <gtest/gtest.h>

namespace cachet::report {
namespace {

TEST(ShellWordTest, PlainWordsStayAsTheyAre) {
  EXPECT_EQ(shell_word("runs/20261121-demo"), "runs/20261121-demo");
  EXPECT_EQ(shell_word("--set"), "--set");
}

TEST(ShellWordTest, WhatAShellWouldReadOtherwiseIsQuoted) {
  EXPECT_EQ(shell_word("my runs/first"), "'my runs/first'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("*"), "'*'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(ShellWordTest, ALineIsItsWords) { EXPECT_EQ(shell_line({"cachet", "train", "my run"}), "cachet train 'my run'"); }

}  // namespace
}  // namespace cachet::report
