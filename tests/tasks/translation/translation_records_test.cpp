#include "cachet/tasks/translation/translation_records.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/thrown_message.h"

namespace cachet::tasks {
namespace {

TEST(LossesOfPairs, AreSumsOfEachRow) {
  const at::Tensor loss = at::tensor({0.5F, 1.0F, 0.25F, 2.0F, 0.0F, 0.0F}).view({2, 3});
  const at::Tensor targets = at::tensor({7, 0, 3, 1, -1, -1}, at::kLong).view({2, 3});
  const auto losses = losses_of_pairs({5, 2}, loss, loss * 2, targets);
  ASSERT_EQ(losses.size(), 2U);
  EXPECT_EQ(losses[0].pair, 5);
  EXPECT_EQ(losses[0].tokens, 3);
  EXPECT_EQ(losses[0].loss, 1.75);
  EXPECT_EQ(losses[0].nll, 3.5);
  EXPECT_EQ(losses[1].pair, 2);
  EXPECT_EQ(losses[1].tokens, 1);
  EXPECT_EQ(losses[1].loss, 2);
}

TEST(TranslationRecords, AreReadAsTheyWereWritten) {
  const PairLosses losses{4, 9, 1.0 / 3, 0.1F};
  const PairLosses read = losses_from_record(losses_record(losses, 7), 7, 5);
  EXPECT_EQ(read.pair, 4);
  EXPECT_EQ(read.tokens, 9);
  EXPECT_EQ(read.loss, losses.loss);
  EXPECT_EQ(read.nll, losses.nll);
  // Tokens are what counts: a text that is not UTF-8 does no harm.
  const WrittenTranslation written = translation_from_record(translation_record({1, {5, 0, 2}}, 8, "a\xFF"), 8, 5, 6);
  EXPECT_EQ(written.pair, 1);
  EXPECT_EQ(written.tokens, (std::vector<int64_t>{5, 0, 2}));
  EXPECT_TRUE(translation_from_record(translation_record({0, {}}, 8, ""), 8, 5, 6).tokens.empty());
}

TEST(TranslationRecords, RefuseOthers) {
  const auto said = [](const auto& read) { return test::thrown_message<std::runtime_error>(read); };
  const Record losses = losses_record({4, 9, 1, 1}, 7), translation = translation_record({1, {5, 0, 2}}, 7, "a b");
  EXPECT_EQ(said([&] { losses_from_record(losses, 7, 5); }), "(nothing thrown)");
  EXPECT_NE(said([&] { losses_from_record(losses, 6, 5); }).find("record 6 does not belong to this evaluation"),
            std::string::npos);
  EXPECT_NE(said([&] { losses_from_record(losses, 7, 4); }).find("record 7 does not belong to this evaluation"),
            std::string::npos);
  EXPECT_NE(said([&] { losses_from_record(translation, 7, 5); }).find("record 7 does not belong to this evaluation"),
            std::string::npos);
  EXPECT_NE(said([&] { translation_from_record(losses, 7, 5, 6); }).find("record 7 does not belong to this evaluation"),
            std::string::npos);
  EXPECT_NE(
      said([&] { translation_from_record(translation, 7, 5, 5); }).find("record 7 does not belong to this evaluation"),
      std::string::npos);
}

}  // namespace
}  // namespace cachet::tasks
