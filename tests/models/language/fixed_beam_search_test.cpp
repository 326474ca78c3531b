// The search on the device, in tensors of fixed sizes, finds what the search on the host finds.
#include "cachet/models/language/fixed_beam_search.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "cachet/ops/support/finite.h"
#include "tests/models/language/small_translation.h"

namespace cachet::models {
namespace {

std::vector<at::Tensor> run_directly(const std::string&, const std::vector<at::Tensor*>&,
                                     const std::function<std::vector<at::Tensor>()>& pass) {
  return pass();
}

/// A model that writes translations of many lengths, more than the first capacity among them.
std::shared_ptr<TranslationTransformer> translating_model(int64_t target_length) {
  TranslationTransformerOptions options = test::small_translation_options();
  options.text.target_length = target_length;
  auto model = test::made_translation_model(options);
  model->eval();
  return model;
}

/// The hypotheses of both searches are equal, and their numbers but for rounding in float64.
void expect_same_hypotheses(TranslationTransformer& model, const Sequences& source, const BeamOptions& options) {
  const auto expected = beam_search(model, source, options);
  const auto found = fixed_beam_search(model, model, source, options, run_directly);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t sentence = 0; sentence < found.size(); ++sentence) {
    ASSERT_EQ(found[sentence].size(), expected[sentence].size()) << sentence;
    for (size_t i = 0; i < found[sentence].size(); ++i) {
      const Hypothesis &one = found[sentence][i], &other = expected[sentence][i];
      EXPECT_EQ(one.tokens, other.tokens) << sentence << ", " << i;
      EXPECT_NEAR(one.score, other.score, 1e-9);
      ASSERT_EQ(one.log_probabilities.size(), other.log_probabilities.size());
      for (size_t token = 0; token < one.log_probabilities.size(); ++token)
        EXPECT_NEAR(one.log_probabilities[token], other.log_probabilities[token], 1e-9);
    }
  }
}

TEST(FixedBeamSearch, FindsTheHypothesesOfTheSearchOnTheHost) {
  size_t longest = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    at::manual_seed(seed);
    const auto model = translating_model(/*target_length=*/90);
    const Sequences source = test::drawn_pairs().source;
    for (const BeamOptions& options :
         {BeamOptions{.beam = 1}, BeamOptions{.beam = 4, .n_best = 3}, BeamOptions{.beam = 5, .length_penalty = 0.6},
          BeamOptions{.beam = 3, .n_best = 3, .lengths = {.shortest = 6, .per_token = 1.5, .added = 3}},
          BeamOptions{.beam = 2, .lengths = {.shortest = 40, .added = 40}}}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", beam " + std::to_string(options.beam));
      expect_same_hypotheses(*model, source, options);
      for (const auto& own : beam_search(*model, source, options))
        longest = std::max(longest, own.front().tokens.size());
    }
  }
  EXPECT_GT(longest, 32);  // the state was extended
}

TEST(FixedBeamSearch, TakesSentencesWithoutPaddingAndAsManyAsItsSizesHave) {
  at::manual_seed(3);
  const auto model = translating_model(/*target_length=*/20);
  for (const int64_t sentences : {1, 8, 9})
    expect_same_hypotheses(*model, {at::randint(4, 20, {sentences, 7}, at::kLong), {}}, {.beam = 3, .n_best = 2});
}

TEST(FixedBeamSearch, WritesNoIdThatOnlyPadsTheVocabulary) {
  at::manual_seed(4);
  const auto model = translating_model(/*target_length=*/20);
  model->set_tokens({.known = 11});
  const Sequences source = test::drawn_pairs().source;
  expect_same_hypotheses(*model, source, {.beam = 4, .n_best = 4});
  for (const auto& own : fixed_beam_search(*model, *model, source, {.beam = 4, .n_best = 4}, run_directly))
    for (const Hypothesis& one : own)
      for (const int64_t token : one.tokens) EXPECT_LT(token, 11);
}

TEST(FixedBeamSearch, AModelThatDivergedIsReported) {
  at::manual_seed(5);
  const auto model = translating_model(/*target_length=*/20);
  {
    const at::NoGradGuard no_grad;
    model->named_parameters()["output.weight"].fill_(std::numeric_limits<double>::quiet_NaN());
  }
  EXPECT_THROW(fixed_beam_search(*model, *model, test::drawn_pairs().source, {.beam = 2}, run_directly),
               ops::NotFinite);
}

TEST(FixedBeamSearch, AnAttentionWithoutAStateOfFixedSizeHasAReason) {
  TranslationTransformerOptions options = test::small_translation_options();
  EXPECT_EQ(TranslationTransformer(options).why_no_fixed_session(), std::nullopt);
  options.decoder_attention.function = nn::KernelOptions{};
  TranslationTransformer model(options);
  EXPECT_NE(model.why_no_fixed_session().value_or("").find("only softmax attention"), std::string::npos);
  model.eval();
  const Sequences source = test::drawn_pairs().source;
  EXPECT_THROW(model.make_fixed_session(model.encode(source), 1, 4), c10::Error);
}

}  // namespace
}  // namespace cachet::models
