#include "cachet/tasks/language_modelling/language_samples.h"

#include <ATen/ops/randint.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "cachet/config/utf8.h"
#include "cachet/models/language/causal_transformer.h"
#include "cachet/tasks/language_modelling/language_sections.h"

namespace cachet::tasks {
namespace {

class CountedBytes final : public data::TokenSequence {
 public:
  explicit CountedBytes(int64_t size) : size_(size) {}
  int64_t size() const override { return size_; }
  void read(int64_t first, int64_t count, int64_t* out) const override {
    for (int64_t i = 0; i < count; ++i) out[i] = 1 + (first + i) % 256;  // all bytes, many of them no UTF-8
  }

 private:
  int64_t size_;
};

std::shared_ptr<models::LanguageModel> small_byte_model() {
  models::CausalTransformerOptions options;
  options.vocabulary = {.tokens = data::kByteVocabulary, .dim = 8, .cutoffs = {}};
  options.target_length = 16;
  options.depth = 1;
  options.num_heads = 2;
  options.mlp_dim = 8;
  auto model = std::make_shared<models::CausalTransformer>(options);
  model->eval();
  return model;
}

TEST(LanguageSamples, AreTheSameForTheSameWeightsAndCanBeShown) {
  const auto model = small_byte_model();
  const data::ByteEncoder encoder;
  const auto samples = write_samples(*model, model->segments(), CountedBytes(1000), encoder, 3);
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_EQ(write_samples(*model, model->segments(), CountedBytes(1000), encoder, 3), samples);
  EXPECT_NE(samples[0].written, samples[1].written);
  for (const WrittenSample& sample : samples) {
    EXPECT_FALSE(sample.given.empty());
    EXPECT_FALSE(sample.written.empty());
    EXPECT_EQ(config::first_invalid_utf8(sample.given + sample.written), std::string::npos);
  }
}

TEST(LanguageSamples, AShortTextHasFewerAndNoneIsNone) {
  const auto model = small_byte_model();
  const data::ByteEncoder encoder;
  EXPECT_EQ(write_samples(*model, model->segments(), CountedBytes(70), encoder, 5).size(), 2U);
  EXPECT_TRUE(write_samples(*model, model->segments(), CountedBytes(20), encoder, 5).empty());
  EXPECT_TRUE(write_samples(*model, model->segments(), CountedBytes(1000), encoder, 0).empty());
}

TEST(LanguageEvaluation, IsKeptWhole) {
  LanguageTally tally;
  tally.add(segment_losses(at::zeros({2, 3}) + 0.5, at::randint(4, {2, 3}, at::kLong)));
  LanguageEvaluation evaluation = tally.finish();
  evaluation.samples = {{"given \"this\"", "it wrote ünd"}};
  EXPECT_EQ(language_evaluation_from_json(to_json(evaluation)), evaluation);
  EXPECT_EQ(language_evaluation_from_json("{}"), std::nullopt);
  EXPECT_EQ(language_evaluation_from_json("nonsense"), std::nullopt);
  for (const char* key : {"tokens", "loss", "loss_by_position", "text", "coded", "bits_of", "baseline", "samples"}) {
    for (const nlohmann::json& value : {nlohmann::json("1"), nlohmann::json(true), nlohmann::json({{"a", 1}})}) {
      auto changed = nlohmann::json::parse(to_json(evaluation));
      changed[key] = value;
      EXPECT_EQ(language_evaluation_from_json(changed.dump()), std::nullopt) << key << " is " << value;
    }
  }
}

TEST(LanguageSections, ShowWhatABudgetBuys) {
  EXPECT_TRUE(language_learning_sections({}, 1000).empty());
  train::Event event;
  event.kind = train::Event::Kind::evaluation;
  event.step = 2000;
  event.metrics = {{"perplexity", 123.0}};
  event.machine = {{"seconds", 90.0}};
  const auto sections = language_learning_sections({event}, 1000);
  ASSERT_EQ(sections.size(), 1U);
  const auto& tokens = std::get<report::LineChart>(sections[0].blocks[0]);
  const auto& time = std::get<report::LineChart>(sections[0].blocks[1]);
  EXPECT_EQ(tokens.series[0].x, std::vector<double>{2.0});
  EXPECT_EQ(time.series[0].x, std::vector<double>{1.5});
  EXPECT_EQ(time.series[0].y, std::vector<double>{123.0});
}

}  // namespace
}  // namespace cachet::tasks
