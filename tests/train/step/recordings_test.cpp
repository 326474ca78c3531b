// Which runs of a work are recorded and replayed, and what a recording that fails leaves.
#include "cachet/train/step/recordings.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace cachet::train {
namespace {

/// Notes what happens to its recordings.
class Noted {
 public:
  explicit Noted(size_t max, bool fails = false)
      : recordings_(max, [this, fails](const auto& work) {
          done_ += "[";
          work();
          done_ += "]";
          if (fails) throw std::runtime_error("CUDA out of memory. Tried to allocate 2.00 GiB");
          return std::make_unique<Replayed>(done_);
        }) {}

  /// Runs the work `key` and returns what was done: a letter for each direct run, brackets for a recording, "r" for a
  /// replay.
  std::string run(const std::string& key) {
    done_.clear();
    recordings_.run(key, [&] { done_ += key; });
    return done_;
  }
  Recordings& recordings() { return recordings_; }

 private:
  struct Replayed : Recording {
    explicit Replayed(std::string& done) : done_(done) {}
    void replay() override { done_ += "r"; }
    std::string& done_;
  };

  std::string done_;
  Recordings recordings_;
};

TEST(Recordings, TheSecondRunIsRecordedAndAllLaterRunsAreReplays) {
  Noted noted(/*max=*/4);
  EXPECT_EQ(noted.run("a"), "a");
  EXPECT_EQ(noted.run("b"), "b");
  EXPECT_EQ(noted.run("a"), "[a]r");
  EXPECT_EQ(noted.run("a"), "r");
  EXPECT_EQ(noted.run("b"), "[b]r");
  EXPECT_EQ(noted.run("a"), "r");
  EXPECT_EQ(noted.recordings().take_notes(), std::vector<std::string>{});
}

TEST(Recordings, AreMadeAgainAfterForget) {
  Noted noted(/*max=*/1);
  noted.run("a");
  noted.run("a");
  EXPECT_EQ(noted.run("a"), "r");
  noted.recordings().forget();
  EXPECT_EQ(noted.run("a"), "a");
  EXPECT_EQ(noted.run("a"), "[a]r");
}

TEST(Recordings, AFailureRunsTheWorkDirectlyFromThenOnAndIsNotedOnce) {
  Noted noted(/*max=*/4, /*fails=*/true);
  EXPECT_EQ(noted.run("a"), "a");
  EXPECT_EQ(noted.run("a"), "[a]a");
  EXPECT_EQ(noted.run("a"), "a");
  EXPECT_EQ(
      noted.recordings().take_notes(),
      std::vector<std::string>{"a step runs without a CUDA graph, because its capture failed: CUDA out of memory. "
                               "Tried to allocate 2.00 GiB"});
  EXPECT_EQ(noted.run("a"), "a");
  EXPECT_EQ(noted.recordings().take_notes(), std::vector<std::string>{});
}

TEST(Recordings, AreBoundedInNumber) {
  Noted noted(/*max=*/1);
  noted.run("a");
  noted.run("a");
  noted.run("b");
  EXPECT_EQ(noted.run("b"), "b");
  EXPECT_EQ(noted.run("b"), "b");
  EXPECT_EQ(noted.run("a"), "r");
  EXPECT_EQ(
      noted.recordings().take_notes(),
      std::vector<std::string>{"there are already 1 CUDA graphs, so steps of further shapes run without a graph"});
}

}  // namespace
}  // namespace cachet::train
