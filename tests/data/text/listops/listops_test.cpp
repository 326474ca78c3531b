#include "cachet/data/text/listops/listops.h"

#include <gtest/gtest.h>

#include <fstream>

#include "cachet/io/error.h"
#include "tests/support/listops_text.h"
#include "tests/support/oracle_folder.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

int value_of(const std::string& text) { return evaluate_listops(parse_listops(text)); }

std::string complaint_about(const std::string& text) {
  return test::thrown_message<io::Error>([&] { parse_listops(text); });
}

TEST(ListOps, ExpressionsHaveTheValuesAndTheFormOfTheArena) {
  std::ifstream file(test::oracle_folder() / "listops.tsv");
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  EXPECT_EQ(line, "Source\tTarget");
  int64_t expressions = 0;
  for (; std::getline(file, line); ++expressions) {
    const size_t tab = line.find('\t');
    const std::string source = line.substr(0, tab);
    const auto tokens = parse_listops(source);
    EXPECT_EQ(std::to_string(evaluate_listops(tokens)), line.substr(tab + 1)) << source;
    EXPECT_EQ(test::whole_listops_text(tokens), source);
  }
  EXPECT_GT(expressions, 0);
}

TEST(ListOps, ParenthesesAreDroppedAndOptional) {
  const std::vector<Token> expected{kListOpsSum, kListOpsZero + 7, kListOpsZero, kListOpsClose};
  EXPECT_EQ(parse_listops("( ( ( [SM 7 ) 0 ) ] )"), expected);
  EXPECT_EQ(parse_listops(" [SM 7  0 ] "), expected);
  EXPECT_EQ(parse_listops("5"), std::vector<Token>{kListOpsZero + 5});
  EXPECT_EQ(value_of("5"), 5);
}

TEST(ListOps, Operators) {
  EXPECT_EQ(value_of("[MIN 4 2 9 ]"), 2);
  EXPECT_EQ(value_of("[MAX 4 2 9 ]"), 9);
  EXPECT_EQ(value_of("[SM 4 2 9 ]"), 5);
  EXPECT_EQ(value_of("[MED 4 2 9 ]"), 4);
  EXPECT_EQ(value_of("[MED 3 2 4 9 ]"), 3) << "the mean of 3 and 4 is rounded down";
  EXPECT_EQ(value_of("[MED 7 ]"), 7);
  EXPECT_EQ(value_of("[MAX 1 [SM 9 9 ] [MIN 5 [MED 6 8 ] ] ]"), 8);
}

TEST(ListOps, RefusesWhatIsNoExpression) {
  EXPECT_EQ(complaint_about(""), "there is no expression");
  EXPECT_EQ(complaint_about("( ( ) )"), "there is no expression");
  EXPECT_EQ(complaint_about("[FIRST 1 ]"), "'[FIRST' is not a digit, '(', ')', ']', '[MIN', '[MAX', '[MED' or '[SM'");
  EXPECT_NE(complaint_about("[MIN 10 ]").find("'10' is not a digit"), std::string::npos);
  EXPECT_NE(complaint_about("[MIN\t1 ]").find("'[MIN?1' is not a digit"), std::string::npos);
  EXPECT_NE(complaint_about(std::string(5000, 'a')).find("'" + std::string(20, 'a') + "' is"), std::string::npos);
  EXPECT_EQ(complaint_about("[MIN 1"), "1 '[' is never closed");
  EXPECT_EQ(complaint_about("[MIN [MAX 1"), "2 '[' are never closed");
  EXPECT_EQ(complaint_about("[MIN ]"), "an operator has no arguments");
  EXPECT_EQ(complaint_about("]"), "a ']' has no matching '['");
  EXPECT_EQ(complaint_about("1 2"), "the text continues after the end of the expression");
  EXPECT_EQ(complaint_about("[MIN 1 ] ]"), "the text continues after the end of the expression");
  EXPECT_EQ(complaint_about("( [MIN 1 ]"), "1 '(' is never closed");
  EXPECT_EQ(complaint_about("( ( [MIN 1 ]"), "2 '(' are never closed");
  EXPECT_EQ(complaint_about("[MIN 1 ) ]"), "a ')' has no matching '('");
}

TEST(ListOps, DeepNestingNeedsNoStack) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "[SM 1 ";
  text += "0";
  for (int i = 0; i < 200'000; ++i) text += " ]";
  const auto tokens = parse_listops(text);
  EXPECT_EQ(evaluate_listops(tokens), 0);
}

}  // namespace
}  // namespace cachet::data
