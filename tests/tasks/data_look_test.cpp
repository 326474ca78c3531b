#include "cachet/tasks/data_look.h"

#include <gtest/gtest.h>

namespace cachet::tasks {
namespace {

data::SplitOverlap shared_of(int64_t shared, int64_t samples, const std::string& split = "test") {
  data::SplitOverlap overlap{.split = split, .many = "images", .samples = samples, .shared = shared};
  if (shared > 0) overlap.evaluation = "val/a.png", overlap.training = "train/b.png";
  return overlap;
}

const std::string kFirst = " also in the training data (the first: val/a.png = train/b.png)";

TEST(DataLook, SaysHowManySamplesSplitsShare) {
  EXPECT_EQ(overlap_text({}), std::nullopt);
  EXPECT_EQ(overlap_text({.overlaps = {shared_of(0, 9)}}), std::nullopt);
  EXPECT_EQ(overlap_text({.overlaps = {shared_of(1, 9)}}), "1 of 9 test images is" + kFirst);
  EXPECT_EQ(overlap_text({.overlaps = {shared_of(9, 9)}}), "all 9 test images are" + kFirst);
  EXPECT_EQ(overlap_text({.overlaps = {shared_of(1, 1)}}), "1 of 1 test images is" + kFirst);
  EXPECT_EQ(overlap_text({.overlaps = {shared_of(2, 9, "validation"), shared_of(0, 3), shared_of(3, 8)}}),
            "2 of 9 validation images are" + kFirst + "; 3 of 8 test images are" + kFirst);
  EXPECT_EQ(overlap_text({.not_compared = kOnlyTokens}), "not compared: the texts exist only as files of tokens");
}

TEST(DataLook, SaysHowManyFilesWerePassedOver) {
  EXPECT_EQ(passed_over_text({}), std::nullopt);
  data::PassedOver one("a .txt file", ".txt files"), none = one, two = one;
  one.add_other("a.md");
  two.add_hidden(".b");
  EXPECT_EQ(passed_over_text({.passed_over = {none, none}}), std::nullopt);
  EXPECT_EQ(passed_over_text({.passed_over = {none, one, two}}),
            "2 files were skipped (1 hidden, 1 not .txt files). The first one is a.md");
}

}  // namespace
}  // namespace cachet::tasks
