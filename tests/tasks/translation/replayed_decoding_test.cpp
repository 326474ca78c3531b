// Decoding with replays: the tokens of a search are replayed, equal to the search itself to the last bit, and read the
// present weights.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cachet/models/language/fixed_beam_search.h"
#include "cachet/models/language/translation_transformer.h"
#include "cachet/ops/support/fused.h"
#include "cachet/train/inference/inference_scope.h"
#include "cachet/train/inference/replayed_inference.h"
#include "tests/support/step_executors.h"

namespace cachet::tasks {
namespace {

using Translations = std::vector<std::vector<models::Hypothesis>>;

Translations translated(models::TranslationTransformer& model, train::ReplayedInference& inference,
                        const models::Sequences& source, int64_t beam) {
  return models::fixed_beam_search(
      model, model, source, {.beam = beam, .n_best = beam},
      [&](const auto& key, const auto& tensors, const auto& pass) { return inference.run(key, tensors, pass); });
}

void expect_equal(const Translations& a, const Translations& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), b[i].size());
    for (size_t j = 0; j < a[i].size(); ++j) {
      EXPECT_EQ(a[i][j].tokens, b[i][j].tokens);
      EXPECT_EQ(a[i][j].log_probabilities, b[i][j].log_probabilities);
      EXPECT_EQ(a[i][j].score, b[i][j].score);
    }
  }
}

TEST(ReplayedDecoding, EqualsTheSearchAndReadsThePresentWeights) {
  const ops::CompositeOnly as_on_cuda;
  for (const train::Precision precision : {train::Precision::float32, train::Precision::bfloat16}) {
    for (const int64_t beam : {1, 3}) {
      at::manual_seed(1);
      models::TranslationTransformerOptions options;
      options.text = {20, 20, 40, 70, {}};
      options.embed_dim = 8;
      options.encoder = options.decoder = {2, 2, 12};
      const auto model = std::make_shared<models::TranslationTransformer>(options);
      const train::InferenceScope scope(*model, {.precision = precision});
      std::vector<models::Sequences> batches;
      for (const int64_t sentences : {3, 5, 9, 4})  // the third has sizes of its own
        batches.push_back({at::randint(4, 20, {sentences, 6}, at::kLong), {}});
      train::ReplayedInference direct(*model, train::make_direct_executor());
      const auto executor = std::make_shared<test::ReplayExecutor>();
      train::ReplayedInference replayed(*model, executor);
      std::vector<Translations> before;
      for (const models::Sequences& batch : batches) {
        before.push_back(translated(*model, direct, batch, beam));
        expect_equal(before.back(), translated(*model, replayed, batch, beam));
      }
      const int64_t replays = executor->replays();
      EXPECT_GT(replays, 50);
      for (const at::Tensor& parameter : model->parameters()) parameter.detach().mul_(1.5);
      for (size_t i = 0; i < batches.size(); ++i) {
        const Translations after = translated(*model, direct, batches[i], beam);
        expect_equal(after, translated(*model, replayed, batches[i], beam));
        EXPECT_NE(after[0][0].score, before[i][0][0].score);
      }
      EXPECT_GT(executor->replays(), replays + 50);
    }
  }
}

}  // namespace
}  // namespace cachet::tasks
