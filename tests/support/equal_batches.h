#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "cachet/data/vision/image_loader.h"

namespace cachet::test {

/// Both have the same batches, to the last bit.
inline void expect_equal_batches(const std::vector<data::ImageBatch>& left,
                                 const std::vector<data::ImageBatch>& right) {
  ASSERT_EQ(left.size(), right.size());
  for (size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i].number, right[i].number);
    EXPECT_EQ(left[i].indices, right[i].indices);
    EXPECT_TRUE(left[i].labels.equal(right[i].labels));
    EXPECT_TRUE(left[i].images.equal(right[i].images));
  }
}

}  // namespace cachet::test
