#include "cachet/geometry/box.h"

#include <gtest/gtest.h>

namespace cachet::geometry {
namespace {

TEST(Box, IsMovedWithItsImage) {
  const Box box{2, 3, 7, 5};
  EXPECT_EQ(sized(box), (SizedBox{2, 3, 5, 2}));
  EXPECT_EQ(corners(sized(box)), box);
  EXPECT_EQ(mirrored(box, 10), (Box{3, 3, 8, 5}));
  EXPECT_EQ(flipped(box, 10), (Box{2, 5, 7, 7}));
  EXPECT_EQ(shifted(box, -1, 4), (Box{1, 7, 6, 9}));
  EXPECT_EQ(scaled(box, 2, 0.5), (Box{4, 1.5, 14, 2.5}));
  EXPECT_EQ(clipped(box, {4, 6}), (Box{2, 3, 6, 4}));
  EXPECT_TRUE(clipped(box, {2, 6}).empty());
  EXPECT_FALSE(box.empty());
}

TEST(Box, OverlapsByAreas) {
  const SizedBox box{0, 0, 4, 2};
  EXPECT_DOUBLE_EQ(overlap(box, box), 1);
  EXPECT_DOUBLE_EQ(overlap(box, {2, 0, 4, 2}), 4.0 / 12);
  EXPECT_DOUBLE_EQ(overlap(box, {2, 0, 4, 2}, /*truth_is_crowd=*/true), 0.5);
  EXPECT_EQ(overlap(box, {4, 0, 4, 2}), 0);  // side by side
  EXPECT_EQ(overlap(box, {0, 2, 4, 2}), 0);
  EXPECT_EQ(overlap(box, {1, 1, 0, 0}), 0);  // no area
}

}  // namespace
}  // namespace cachet::geometry
