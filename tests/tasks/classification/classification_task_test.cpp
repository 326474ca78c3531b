#include "cachet/tasks/classification/classification_task.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cachet/io/files/read_file.h"
#include "tests/support/temporary_directory.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

/// A run of two epochs that is finished.
class RestoredEvaluation : public ::testing::Test {
 protected:
  RestoredEvaluation() {
    test::write_tiny_images(images());
    EXPECT_EQ(test::train_tiny(images(), run(), {kTwoEpochs}).ending, train::StopReason::finished);
  }

  std::filesystem::path images() const { return folder_ / "images"; }
  std::filesystem::path run() const { return folder_ / "run"; }
  std::string page() const { return io::read_text_file(run() / "report.html", 64 << 20); }

  /// What a page shows of the evaluation: all from its matrix to its last picture.
  static std::string shown_evaluation(const std::string& page) {
    const size_t first = page.find("Confusion matrix"), last = page.rfind("data:image/png");
    return first == std::string::npos || last == std::string::npos ? "" : page.substr(first, last - first);
  }

  static constexpr const char* kTwoEpochs = "train.limit=2 epochs";
  static constexpr const char* kThreeEpochs = "train.limit=3 epochs";
  test::TemporaryDirectory folder_;
};

/// Ctrl-C at the first step line, which is four steps on.
class StoppedTask : public ImageClassification {
 public:
  using ImageClassification::ImageClassification;
  std::vector<train::Series> observe() override {
    std::raise(SIGINT);
    return ImageClassification::observe();
  }
};

TEST_F(RestoredEvaluation, IsOnThePageOfARunThatWentOn) {
  const std::string before = page();
  ASSERT_GT(shown_evaluation(before).size(), 1000U);
  const train::Outcome outcome = test::train_tiny<StoppedTask>(images(), run(), {kThreeEpochs});
  ASSERT_EQ(outcome.ending, train::StopReason::interrupted);
  ASSERT_EQ(outcome.step, 28) << "before its next evaluation";
  const std::string after = page();
  EXPECT_NE(after, before) << "the page was written anew";
  EXPECT_EQ(shown_evaluation(after), shown_evaluation(before));

  // And once more, from the checkpoint between two evaluations.
  ASSERT_EQ(test::train_tiny<StoppedTask>(images(), run(), {kThreeEpochs}).step, 32);
  EXPECT_EQ(shown_evaluation(page()), shown_evaluation(before));
}

TEST_F(RestoredEvaluation, IsReplacedByTheNextOne) {
  const std::string before = page();
  ASSERT_EQ(test::train_tiny(images(), run(), {kThreeEpochs}).step, 36);
  EXPECT_FALSE(shown_evaluation(page()).empty());
  EXPECT_NE(shown_evaluation(page()), shown_evaluation(before));
}

TEST_F(RestoredEvaluation, ARunWithNothingLeftToDoKeepsItsPage) {
  const std::string before = page();
  ASSERT_TRUE(std::filesystem::exists(run() / "evaluation.json"));
  for (const bool keeps_details : {true, false}) {
    if (!keeps_details) std::filesystem::remove(run() / "evaluation.json");
    const train::Outcome outcome = test::train_tiny(images(), run(), {kTwoEpochs});
    EXPECT_EQ(outcome.ending, train::StopReason::finished);
    EXPECT_EQ(outcome.step, 24);
    EXPECT_EQ(page(), before) << keeps_details;
  }
  // A page that is lost is written again, without what nobody saved.
  std::filesystem::remove(run() / "report.html");
  test::train_tiny(images(), run(), {kTwoEpochs});
  EXPECT_NE(page().find("Top-1"), std::string::npos);
  EXPECT_TRUE(shown_evaluation(page()).empty());
}

TEST_F(RestoredEvaluation, ThatIsDamagedIsLeftOut) {
  for (const char* text : {"{", R"({"schema":1,"step":24,"details":{"classes":4,"samples":33,"confusion":[[9,9,9]],)"
                                R"("right":[[999,0,0,1]],"wrong":[]}})"}) {
    std::ofstream(run() / "evaluation.json") << text;
    std::filesystem::remove(run() / "report.html");
    EXPECT_EQ(test::train_tiny(images(), run(), {kTwoEpochs}).ending, train::StopReason::finished) << text;
    EXPECT_TRUE(shown_evaluation(page()).empty()) << text;
  }
}

}  // namespace
}  // namespace cachet::tasks
