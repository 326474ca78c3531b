#include "cachet/config/counted_list.h"

#include <gtest/gtest.h>

namespace cachet::config {
namespace {

/// The message of finish(); "" where nothing is wrong.
std::string problems_of(Document& document) {
  try {
    document.finish();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CountedList, TakesAsManyAsItMay) {
  Document document = Document::from_text("one = 3\ntwo = [1, 2]\nrates = [0.5, 1]", "t.toml");
  const View root = document.root();
  EXPECT_EQ(counted_integers(root, "one", {}, {1, 2}), std::vector<int64_t>{3});
  EXPECT_EQ(counted_integers(root, "two", {}, {1, 2}), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(counted_reals(root, "rates", {}, Count::exactly(2)), (std::vector<double>{0.5, 1}));
  EXPECT_EQ(counted_integers(root, "absent", {7}, {1, 2}), std::vector<int64_t>{7});
  EXPECT_EQ(problems_of(document), "");
}

TEST(CountedList, GivesTheDefaultForAnotherNumber) {
  std::string many = "many = [";
  for (int i = 0; i < 5000; ++i) many += "1, ";
  Document document = Document::from_text("none = []\nthree = [1, 2, 3]\n" + many + "]", "t.toml");
  const View root = document.root();
  EXPECT_EQ(counted_integers(root, "none", {7}, {1, 1000}), std::vector<int64_t>{7});
  EXPECT_EQ(counted_reals(root, "three", {0.5, 0.5}, Count::exactly(2)), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(counted_integers(root, "many", {1}, {1, 2}), std::vector<int64_t>{1});
  EXPECT_EQ(problems_of(document),
            "t.toml:1: none: takes 1 to 1000 integers, not 0\n"
            "t.toml:2: three: takes 2 numbers, not 3\n"
            "t.toml:3: many: takes one integer or two, not 5000");
}

}  // namespace
}  // namespace cachet::config
