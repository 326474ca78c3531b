#include "cachet/train/machine/process_setup.h"

#include <gtest/gtest.h>

#include "tests/support/thrown_message.h"

namespace cachet::train {
namespace {

TEST(UseThreads, RefusesMoreThanARunMayHave) {
  EXPECT_NE(test::thrown_message<std::runtime_error>([] { use_threads(kMaxThreads + 1); }).find("threads are too many"),
            std::string::npos);
}

}  // namespace
}  // namespace cachet::train
