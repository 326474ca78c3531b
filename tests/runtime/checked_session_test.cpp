#include "cachet/runtime/checked_session.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace cachet::runtime {
namespace {

/// Answers with ones, in the given shape.
class Ones : public Session {
 public:
  Ones(int64_t samples, int64_t classes) : samples_(samples), classes_(classes) {}
  Scores run(std::span<const Input> /*inputs*/) override {
    return {samples_, classes_, std::vector<float>(static_cast<size_t>(samples_ * classes_), 1)};
  }

 private:
  int64_t samples_, classes_;
};

ExportManifest of_sequences() {
  ExportManifest manifest;
  manifest.inputs = {{"ids", Element::int64, {-1, -1}, 4, 10}, {"padding", Element::boolean, {-1, -1}}};
  manifest.classes = {"yes", "no", "perhaps"};
  return manifest;
}

/// The message of a session about ids (2, length) and their padding; empty if it answers.
std::string refusal(const ExportManifest& manifest, const std::vector<int64_t>& ids, int64_t padded,
                    int64_t samples = 2, int64_t classes = 3) {
  const auto length = static_cast<int64_t>(ids.size()) / 2;
  const std::vector<char> padding(ids.size() + 16);
  const std::vector<Input> inputs{{Element::int64, {2, length}, ids.data()},
                                  {Element::boolean, {2, padded}, padding.data()}};
  try {
    checked(std::make_unique<Ones>(samples, classes), manifest)->run(inputs);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(CheckedSession, TakesWhatTheManifestSays) {
  EXPECT_EQ(refusal(of_sequences(), {0, 9, 1, 2, 3, 4, 5, 6}, 4), "");
  EXPECT_EQ(refusal(of_sequences(), {0, 9}, 1), "");
}

TEST(CheckedSession, RefusesIdsAndLengthsThatTheModelDoesNotHave) {
  EXPECT_NE(refusal(of_sequences(), std::vector<int64_t>(10), 5).find("has 5 tokens; the model takes at most 4"),
            std::string::npos);
  EXPECT_NE(refusal(of_sequences(), {0, 10}, 1).find("has the token id 10; ids must be from 0 to 9"),
            std::string::npos);
  EXPECT_NE(refusal(of_sequences(), {-1, 0}, 1).find("has the token id -1"), std::string::npos);
  EXPECT_NE(refusal(of_sequences(), {0, 0}, 2)
                .find("input 'padding' of the exported model must have the same shape as 'ids'"),
            std::string::npos);
  EXPECT_NE(refusal(of_sequences(), {}, 0).find("has the shape (2 x 0); the model takes (any x any)"),
            std::string::npos);
}

TEST(CheckedSession, RefusesOtherAnswersThanTheClassesOfTheBatch) {
  EXPECT_NE(refusal(of_sequences(), {0, 0}, 1, 1, 3).find("gives (1 x 3) scores instead of (2 x 3)"),
            std::string::npos);
  EXPECT_NE(refusal(of_sequences(), {0, 0}, 1, 2, 4).find("gives (2 x 4) scores"), std::string::npos);
}

TEST(CheckedSession, RefusesOtherInputs) {
  ExportManifest manifest = of_sequences();
  manifest.inputs[0].shape[1] = 3;
  EXPECT_NE(refusal(manifest, {0, 0}, 1).find("has the shape (2 x 1); the model takes (any x 3)"), std::string::npos);
  manifest.inputs[0].element = Element::float32;
  EXPECT_NE(refusal(manifest, {0, 0}, 1).find("elements of the wrong type"), std::string::npos);
  manifest.inputs.pop_back();
  EXPECT_NE(refusal(manifest, {0, 0}, 1).find("takes 1 input, not 2"), std::string::npos);
  const std::vector<int64_t> ids(2);
  const std::vector<char> padding(4);
  const std::vector<Input> batches{{Element::int64, {2, 1}, ids.data()}, {Element::boolean, {4, 1}, padding.data()}};
  EXPECT_THROW(checked(std::make_unique<Ones>(2, 3), of_sequences())->run(batches), std::runtime_error);
}

}  // namespace
}  // namespace cachet::runtime
