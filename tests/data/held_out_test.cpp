#include "cachet/data/held_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <vector>

namespace cachet::data {
namespace {

std::map<int64_t, int64_t> counts(const std::vector<int64_t>& strata, const std::vector<int64_t>& samples) {
  std::map<int64_t, int64_t> all;
  for (const int64_t sample : samples) ++all[strata[static_cast<size_t>(sample)]];
  return all;
}

TEST(HeldOut, HasTheFractionOfEachStratum) {
  std::vector<int64_t> strata;
  for (int64_t i = 0; i < 300; ++i) strata.push_back(i % 3 == 0 ? 0 : 1);
  const HeldOut parts = hold_out(strata, 0.1, 7);
  EXPECT_EQ(counts(strata, parts.validation), (std::map<int64_t, int64_t>{{0, 10}, {1, 20}}));
  EXPECT_TRUE(std::ranges::is_sorted(parts.training) && std::ranges::is_sorted(parts.validation));
  std::vector<int64_t> all = parts.training;
  all.insert(all.end(), parts.validation.begin(), parts.validation.end());
  std::ranges::sort(all);
  for (int64_t i = 0; i < 300; ++i) EXPECT_EQ(all.at(static_cast<size_t>(i)), i);
}

TEST(HeldOut, DependsOnTheSeedAlone) {
  const std::vector<int64_t> strata(100, 0);
  EXPECT_EQ(hold_out(strata, 0.2, 1).validation, hold_out(strata, 0.2, 1).validation);
  EXPECT_NE(hold_out(strata, 0.2, 1).validation, hold_out(strata, 0.2, 2).validation);
  const std::string digest = digest_of_indices(hold_out(strata, 0.2, 1).validation);
  EXPECT_EQ(digest, digest_of_indices(hold_out(strata, 0.2, 1).validation));
  EXPECT_NE(digest, digest_of_indices(hold_out(strata, 0.2, 2).validation));
}

TEST(HeldOut, LeavesOneOfEachStratumOnBothSidesIfItCan) {
  const std::vector<int64_t> strata{0, 1, 1, 2, 2, 2};
  const HeldOut few = hold_out(strata, 0.01, 0), most = hold_out(strata, 0.9, 0);
  EXPECT_EQ(counts(strata, few.validation), (std::map<int64_t, int64_t>{{1, 1}, {2, 1}}));
  EXPECT_EQ(counts(strata, most.training), (std::map<int64_t, int64_t>{{0, 1}, {1, 1}, {2, 1}}));
}

TEST(HeldOut, OfSamplesThatAreAloneIsDrawnOfAll) {
  const std::vector<int64_t> strata{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(hold_out(strata, 0.2, 0).validation.size(), 2U);
  EXPECT_THROW(hold_out(std::vector<int64_t>{0}, 0.2, 0), std::invalid_argument);
  EXPECT_THROW(hold_out({}, 0.2, 0), std::invalid_argument);
}

}  // namespace
}  // namespace cachet::data
