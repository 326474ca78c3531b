// Seeds LibTorch's generator before every test: left alone, it starts from the system's entropy, and a test that draws
// its operands would meet others in every run.
#include <ATen/Context.h>
#include <gtest/gtest.h>

namespace {

class SeedEveryTest : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override { at::manual_seed(0); }
};

// The list of listeners owns what is appended to it.
const bool appended = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new SeedEveryTest);
  return true;
}();

}  // namespace
