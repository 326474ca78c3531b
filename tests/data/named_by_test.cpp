#include "cachet/data/named_by.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

TEST(NamedBy, AddsTheKeysThatAMessageLacks) {
  EXPECT_EQ(with_keys("a: is empty", {"data.root"}), "a: is empty; see data.root");
  EXPECT_EQ(with_keys("a: is empty", {"data.train", "data.root", "data.kind"}),
            "a: is empty; see data.train, data.root and data.kind");
  EXPECT_EQ(with_keys("data.root: there is no a", {"data.root"}), "data.root: there is no a");
  EXPECT_EQ(with_keys("data.train_folder must be the name of an existing folder", {"data.train", "data.train_folder"}),
            "data.train_folder must be the name of an existing folder; see data.train");
}

TEST(NamedBy, GivesWhatIsReadAndLeavesOtherErrors) {
  EXPECT_EQ(named_by({"data.root"}, [] { return 3; }), 3);
  const auto fail = [] { named_by({"data.root"}, []() -> int { throw io::Error("a: is empty"); }); };
  EXPECT_EQ(test::thrown_message<io::Error>(fail), "a: is empty; see data.root");
  EXPECT_THROW(named_by({"data.root"}, []() -> int { throw std::invalid_argument("no"); }), std::invalid_argument);
}

}  // namespace
}  // namespace cachet::data
