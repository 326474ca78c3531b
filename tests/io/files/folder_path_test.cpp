#include "cachet/io/files/folder_path.h"

#include <gtest/gtest.h>

namespace cachet::io {
namespace {

TEST(FolderPath, IsNamedWithoutItsLastSeparator) {
  EXPECT_EQ(without_last_separator("a/b/"), "a/b");
  EXPECT_EQ(without_last_separator("a/b"), "a/b");
  EXPECT_EQ(without_last_separator("/"), "/");
  EXPECT_EQ(without_last_separator(""), "");
}

}  // namespace
}  // namespace cachet::io
