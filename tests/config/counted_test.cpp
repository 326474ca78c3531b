#include "cachet/config/counted.h"

#include <gtest/gtest.h>

namespace cachet::config {
namespace {

TEST(Counted, HasTheNounOfTheNumber) {
  EXPECT_EQ(counted(1, "image"), "1 image");
  EXPECT_EQ(counted(0, "image"), "0 images");
  EXPECT_EQ(counted(2, "image"), "2 images");
  EXPECT_EQ(counted(1, "class", "classes"), "1 class");
  EXPECT_EQ(counted(12, "class", "classes"), "12 classes");
}

}  // namespace
}  // namespace cachet::config
