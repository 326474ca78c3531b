#include "cachet/tasks/language_modelling/language_evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace cachet::tasks {
namespace {

/// A segment of batch rows with so many tokens each, whose losses are these.
SegmentLosses segment_of(const std::vector<double>& losses, int64_t tokens) {
  SegmentLosses segment;
  segment.by_batch_row = losses;
  segment.tokens_by_batch_row.assign(losses.size(), tokens);
  segment.by_place.assign(static_cast<size_t>(tokens), 0);
  segment.tokens_by_place.assign(static_cast<size_t>(tokens), static_cast<int64_t>(losses.size()));
  for (const double loss : losses) segment.by_place[0] += loss;
  return segment;
}

// Blocks of 512 tokens with the means 1, 2 and 3, and one of 256 with 4: the loss is (1 + 2 + 3 + 4 / 2) / 3.5 = 16
// / 7. Around it they deviate by −9, −2, 5 and half of 12 sevenths: √(4 / 3 · (81 + 4 + 25 + 36) / 49) / 3.5.
TEST(LanguageTally, ErrorIsThatOfBlocksWeightedByTheirTokens) {
  LanguageTally tally;
  tally.add(segment_of({256, 512}, 256));
  tally.add(segment_of({256, 512}, 256));  // the first blocks of both batch rows are full
  tally.add(segment_of({768, 1024}, 256));
  SegmentLosses last = segment_of({768, 0}, 256);
  last.tokens_by_batch_row[1] = 0;  // where the batch row is at its end
  last.tokens_by_place.assign(256, 1);
  tally.add(last);
  const LanguageEvaluation evaluation = tally.finish();
  EXPECT_EQ(evaluation.tokens, 7 * 256);
  EXPECT_NEAR(evaluation.loss, 16.0 / 7, 1e-12);
  EXPECT_NEAR(evaluation.loss_error.value(), std::sqrt(4.0 / 3 * 146 / 49) / 3.5, 1e-12);
}

TEST(LanguageTally, OfOneBlockThereIsNoError) {
  LanguageTally tally;
  tally.add(segment_of({100}, 200));
  tally.add(segment_of({80}, 200));
  const LanguageEvaluation evaluation = tally.finish();
  EXPECT_FALSE(evaluation.loss_error);
  EXPECT_FALSE(evaluation.metrics().find("loss_stderr"));
  LanguageTally equal;
  for (int i = 0; i < 3; ++i) equal.add(segment_of({700, 700}, 512));
  EXPECT_NEAR(equal.finish().loss_error.value(), 0, 1e-12) << "no block is harder than another";
}

// Losses of tokens that are drawn one by one deviate by 1: their mean of n by 1 / √n. Of tokens that come in runs of 64
// alike it is 8 times that, which the error of single tokens would not see. A deviation of 400 blocks is known to 3.5
// %.
TEST(LanguageTally, ErrorIsThatOfIndependentTokensAndOfRunsOfAlikeOnes) {
  constexpr int64_t kSegments = 1600, kLength = 128;
  std::mt19937 random(5);
  const auto drawn = [&] { return random() % 2 == 0 ? 3.0 : 5.0; };
  for (const int64_t run : {1, 64}) {
    LanguageTally tally;
    for (int64_t i = 0; i < kSegments; ++i) {
      double loss = 0;
      for (int64_t token = 0; token < kLength; token += run) loss += static_cast<double>(run) * drawn();
      tally.add(segment_of({loss}, kLength));
    }
    const double expected = std::sqrt(static_cast<double>(run) / static_cast<double>(kSegments * kLength));
    EXPECT_NEAR(tally.finish().loss_error.value(), expected, 4 * 0.035 * expected) << run;
  }
}

TEST(LanguageEvaluation, ErrorsFollowFromThatOfTheLoss) {
  LanguageEvaluation evaluation{.tokens = 100, .loss = 2};
  evaluation.text = {.text = {500, 350}, .coded = {{10, 10}, {{400, 300}, 7}}};
  evaluation.baseline = {9, {"a note"}};
  evaluation.loss_error = 0.01;
  const train::Metrics metrics = evaluation.metrics();
  EXPECT_NEAR(metrics.find("perplexity_stderr").value(), 0.01 * std::exp(2.0), 1e-12);
  EXPECT_EQ(metrics.find("loss_stderr"), 0.01);
  EXPECT_NEAR(metrics.find("bits_per_byte").value(), 0.5 / std::numbers::ln2, 1e-12);
  EXPECT_NEAR(metrics.find("bits_per_byte_stderr").value(), 0.0025 / std::numbers::ln2, 1e-12);
  EXPECT_NEAR(metrics.find("bits_per_character_stderr").value(), 0.01 / 3 / std::numbers::ln2, 1e-12);
  EXPECT_FALSE(metrics.find("baseline_perplexity_stderr"));
  EXPECT_EQ(metrics.find("uncoded"), 0.18) << "the first token is not predicted, but it is not missing either";
  EXPECT_EQ(metrics.find("text_bytes"), 500);
  const auto read = language_evaluation_from_json(to_json(evaluation));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, evaluation);
  evaluation.loss_error.reset();
  EXPECT_EQ(*language_evaluation_from_json(to_json(evaluation)), evaluation);
}

TEST(LanguageEvaluation, BitsAreOfWhatTheTokensTell) {
  LanguageEvaluation evaluation{.tokens = 10, .loss = std::numbers::ln2};
  evaluation.text = {.text = {100, 90}, .coded = {{1, 1}, {{20, 10}, 5}}};
  EXPECT_NEAR(evaluation.metrics().find("bits_per_byte").value(), 0.5, 1e-15);
  EXPECT_NEAR(evaluation.metrics().find("bits_per_character").value(), 1.0, 1e-15);
  EXPECT_FALSE(evaluation.metrics().find("bits_per_coded_byte"));
  // The rule of version 0.1.0, with today's number next to it.
  evaluation.text.bits_of = BitsOf::whole_text;
  EXPECT_NEAR(evaluation.metrics().find("bits_per_byte").value(), 0.1, 1e-15);
  EXPECT_NEAR(evaluation.metrics().find("bits_per_coded_byte").value(), 0.5, 1e-15);
  EXPECT_EQ(*language_evaluation_from_json(to_json(evaluation)), evaluation);
  // A text that is cut: its length is not known, but the part that its tokens encode is.
  evaluation.text = {.coded = {{1, 1}, {{20, 10}, 5}}};
  EXPECT_NEAR(evaluation.metrics().find("bits_per_byte").value(), 0.5, 1e-15);
  EXPECT_FALSE(evaluation.metrics().find("uncoded"));
  EXPECT_FALSE(evaluation.metrics().find("text_bytes"));
  evaluation.text = {.text = {100, 90}};
  EXPECT_FALSE(evaluation.metrics().find("bits_per_byte")) << "no token tells anything";
  EXPECT_EQ(evaluation.metrics().find("uncoded"), 1.0);
}

TEST(LanguageEvaluation, OneOfVersion010IsRead) {
  const auto read = language_evaluation_from_json(
      R"({"tokens":10,"loss":2.0,"loss_by_position":[2.0],"text_bytes":100,"text_characters":90,"baseline":3.5,)"
      R"("samples":[["a","b"]],"loss_error":0.1})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->text, (HeldOutText{.text = {100, 90}, .bits_of = BitsOf::whole_text}));
  EXPECT_EQ(read->baseline, NgramBaseline{}) << "its discounts may have been wrong: it is made again";
  EXPECT_EQ(read->samples.size(), 1U);
}

}  // namespace
}  // namespace cachet::tasks
