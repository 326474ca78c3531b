#include "cachet/train/machine/error_message.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "cachet/report/format.h"

namespace cachet::train {
namespace {

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error_message(error);
  }
  return "(nothing thrown)";
}

TEST(ErrorMessage, HasNothingOfALibrarysSources) {
  EXPECT_EQ(message_of([] { TORCH_CHECK(false, "the tensor is too small\nand more"); }), "the tensor is too small");
  EXPECT_EQ(
      error_message(std::runtime_error("[enforce fail at /a/gloo/device.cc:83] ifa != nullptr. No address for: x")),
      "No address for: x");
}

TEST(ErrorMessage, OursKeepTheirLines) {
  EXPECT_EQ(error_message(std::runtime_error("run: the loss is NaN\nNothing was saved after this")),
            "run: the loss is NaN\nNothing was saved after this");
}

TEST(ErrorMessage, OfTheFileSystemBeginsWithThePath) {
  const std::filesystem::filesystem_error one("cannot create directories", "/a/b",
                                              std::make_error_code(std::errc::permission_denied));
  EXPECT_EQ(error_message(one), "/a/b: cannot create directories: Permission denied");
  const std::filesystem::filesystem_error two("cannot rename", "/a", "/b",
                                              std::make_error_code(std::errc::no_space_on_device));
  EXPECT_EQ(error_message(two), "/a: cannot rename: No space left on device (/b)");
}

TEST(ErrorMessage, OfAThreadNamesTheLimit) {
  EXPECT_EQ(error_message(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again))),
            "cannot start a thread: the limit of this user's processes and threads is reached (`ulimit -u`)");
}

TEST(ErrorMessage, OfMemorySaysHowMuchWasAskedFor) {
  const std::string said = message_of([] { at::empty({int64_t{1} << 45}); });
  EXPECT_EQ(said, "out of memory: cannot allocate " + report::format_bytes(int64_t{1} << 47) + " more");
}

}  // namespace
}  // namespace cachet::train
