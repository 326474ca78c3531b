#include <gtest/gtest.h>

#include <algorithm>

#include "cachet/io/tensors/names/published_names.h"
#include "cachet/models/language/beam_search.h"
#include "cachet/models/language/greedy_decoding.h"
#include "cachet/models/language/translation_transformer.h"
#include "cachet/nn/layers/positions.h"
#include "tests/support/model_oracle.h"

namespace cachet {
namespace {

using models::Hypothesis;
using models::SentencePairs;
using models::Sequences;
using models::TranslationTransformer;
using models::TranslationTransformerOptions;
using test::Comparison;
using test::ModelUnderTest;
using test::Oracle;

TranslationTransformerOptions translation_options_of(const Oracle& oracle) {
  TranslationTransformerOptions o;
  const nlohmann::json& special = oracle.metadata.at("special");
  const int64_t vocabulary = oracle.integer("vocabulary");
  constexpr int64_t kLongest =
      24;  // above every sentence and every limit of the fixtures; the model has tables for none
  o.text = {vocabulary, vocabulary, kLongest, kLongest, {special.at("pad"), special.at("eos"), special.at("eos")}};
  o.embed_dim = oracle.integer("dim");
  o.encoder = {oracle.integer("encoder_layers"), oracle.integer("heads"), oracle.integer("encoder_ffn")};
  o.decoder = {oracle.integer("decoder_layers"), oracle.integer("heads"), oracle.integer("decoder_ffn")};
  o.shared = models::SharedEmbeddings::all;
  o.norm_place = oracle.flag("pre_norm") ? nn::NormPlace::before : nn::NormPlace::after;
  EXPECT_EQ(oracle.metadata.at("activation"), "relu");
  o.activation = nn::Activation::relu;
  o.plug_ins.norm = nn::LayerNormOptions{oracle.real("norm_eps")};
  o.dropout = 0;
  return o;
}

std::vector<std::string> fairseq_names_of(const Oracle& oracle, const std::string& name) {
  const nlohmann::json& theirs = oracle.metadata.at("fairseq_names").at(name);
  return theirs.is_array() ? theirs.get<std::vector<std::string>>() : std::vector<std::string>{theirs};
}

struct TranslationUnderTest {
  std::shared_ptr<TranslationTransformer> model;
  ModelUnderTest test;
};

TranslationUnderTest translation_under_test(const Oracle& oracle) {
  TranslationUnderTest made;
  made.model = std::make_shared<TranslationTransformer>(translation_options_of(oracle));
  made.test.model = made.model;
  made.test.names = {io::published_fairseq_translation()};
  made.test.complete = [&oracle](io::TensorMap& tensors) {
    io::TensorMap renamed;
    for (const auto& [name, tensor] : tensors)
      for (const std::string& theirs : fairseq_names_of(oracle, name)) renamed.emplace(theirs, tensor);
    tensors = std::move(renamed);
  };
  test::load_model(made.test, oracle);
  return made;
}

Sequences padded_sentences(const at::Tensor& ids, int64_t padding) { return {ids, ids.eq(padding)}; }

TEST(TranslationOracle, EncoderScoresLossesAndGradientsAreReproduced) {
  const Oracle oracle = test::load_oracle("model_translation");
  Comparison compare(oracle.name);
  const auto [model, test] = translation_under_test(oracle);
  const int64_t padding = oracle.metadata.at("special").at("pad");
  compare.close(
      nn::half_sinusoids(padding + 1, oracle["positions"].size(0) - padding - 1, oracle.integer("dim"), at::kDouble),
      oracle["positions"].slice(0, padding + 1), "positions");
  const double smoothing = oracle.metadata.at("label_smoothing");
  for (int64_t i = 0; oracle.has_step(i, "src"); ++i) {
    const std::string label = "step" + std::to_string(i) + ".";
    const at::Tensor target = oracle.step(i, "target"), none = target.eq(padding);
    SentencePairs pairs{padded_sentences(oracle.step(i, "src"), padding),
                        padded_sentences(oracle.step(i, "prev"), padding), target.masked_fill(none, -1)};
    model->zero_grad();
    const models::EncodedSentences encoded = model->encode(pairs.source);
    compare.close(encoded.tokens, oracle.step(i, "encoder"), label + "encoder");
    const at::Tensor scores = model->scores(model->decode(pairs.target, encoded));
    compare.close(scores.masked_fill(none.unsqueeze(2), 0), oracle.step(i, "logits"), label + "logits");
    const auto losses = model->losses(pairs, {smoothing});
    compare.close(losses.negative_log_likelihood, oracle.step(i, "nll"), label + "nll");
    compare.close(losses.negative_log_likelihood.sum().view(1), oracle.step(i, "nll_sum"), label + "nll_sum");
    compare.close(losses.loss.sum().view(1), oracle.step(i, "loss_sum"), label + "loss_sum");
    const auto over_all = model->losses(pairs, {smoothing, models::SmoothingShare::all});
    compare.close(over_all.loss.sum().view(1), oracle.step(i, "loss_sum_over_v"), label + "loss_sum_over_v");

    losses.loss.sum().backward();
    io::TensorMap gradients;
    for (const auto& parameter : model->named_parameters())
      gradients.emplace(parameter.key(), test::gradient_of(parameter.value()));
    const io::TensorMap theirs = test.names[0].inverted().apply(gradients).tensors;
    std::vector<at::Tensor> norms;
    for (const std::string& name : test::parameter_order(oracle))
      norms.push_back(theirs.at(fairseq_names_of(oracle, name)[0]).norm());
    compare.close(at::stack(norms), oracle.step(i, "gradnorm"), label + "gradnorm");
    for (const auto& [name, gradient] : oracle.below(label + "grad."))
      compare.close(theirs.at(fairseq_names_of(oracle, name)[0]), gradient, label + "grad." + name);
  }
}

TEST(TranslationOracle, NamesOfFairseqGoBothWays) {
  const Oracle oracle = test::load_oracle("model_translation");
  const auto [model, test] = translation_under_test(oracle);
  io::TensorMap theirs = oracle.below("param.");
  test.complete(theirs);
  theirs.emplace("encoder.version", at::tensor({3.0}));
  theirs.emplace("decoder.embed_positions._float_tensor", at::zeros({1}));
  const auto ours = test.names[0].apply(theirs);
  EXPECT_TRUE(ours.unmatched.empty()) << ours.unmatched.front();
  const io::TensorMap back = test.names[0].inverted().apply(ours.tensors).tensors;
  EXPECT_EQ(back.size() + 2, theirs.size());
  for (const auto& [name, tensor] : back) EXPECT_TRUE(at::equal(tensor, theirs.at(name))) << name;
}

// --- translating -----------------------------------------------------------------------------------------------------

std::vector<double> cumulated(const Hypothesis& hypothesis) {
  std::vector<double> sums;
  for (const double each : hypothesis.log_probabilities) sums.push_back(each + (sums.empty() ? 0.0 : sums.back()));
  return sums;
}

// The n-best of all sentences in the fixture's form.
struct HypothesesAsTensors {
  at::Tensor tokens, lengths, scores, cumulative;

  HypothesesAsTensors(const std::vector<std::vector<Hypothesis>>& all, at::IntArrayRef sizes, int64_t padding) {
    tokens = at::full(sizes, padding, at::kLong);
    lengths = at::zeros(sizes.slice(0, 2), at::kLong);
    scores = at::zeros(sizes.slice(0, 2), at::kDouble);
    cumulative = at::zeros(sizes, at::kDouble);
    for (size_t s = 0; s < all.size(); ++s)
      for (size_t n = 0; n < all[s].size(); ++n) {
        const Hypothesis& own = all[s][n];
        const auto sentence = static_cast<int64_t>(s), rank = static_cast<int64_t>(n),
                   length = static_cast<int64_t>(own.tokens.size());
        lengths[sentence][rank] = length;
        scores[sentence][rank] = own.score;
        if (length > sizes[2]) continue;  // the lengths decide
        tokens[sentence][rank].narrow(0, 0, length).copy_(at::tensor(own.tokens, at::kLong));
        cumulative[sentence][rank].narrow(0, 0, length).copy_(at::tensor(cumulated(own), at::kDouble));
      }
  }
};

TEST(TranslationOracle, BeamSearchFindsTheSameTokensAndScores) {
  const Oracle oracle = test::load_oracle("beam_search");
  Comparison compare(oracle.name);
  const auto [model, test] = translation_under_test(oracle);
  model->eval();
  const int64_t padding = oracle.metadata.at("special").at("pad");
  const Sequences source = padded_sentences(oracle["src"], padding);
  const nlohmann::json& cases = oracle.metadata.at("cases");
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string label = "case" + std::to_string(i) + ".";
    const nlohmann::json& given = cases[i];
    models::BeamOptions options;
    options.beam = options.n_best = given.at("beam");
    options.length_penalty = given.at("normalize") == 1 ? given.at("alpha").get<double>() : 0.0;
    options.lengths = {given.at("min_len"), given.at("max_len_a"), given.at("max_len_b"),
                       models::LengthLimits::Width::batch};
    const auto found = models::beam_search(*model, source, options);
    const HypothesesAsTensors all(found, oracle[label + "tokens"].sizes(), padding);
    EXPECT_TRUE(at::equal(all.lengths, oracle[label + "lengths"])) << label << all.lengths;
    EXPECT_TRUE(at::equal(all.tokens, oracle[label + "tokens"])) << label << all.tokens;
    compare.close(all.scores, oracle[label + "scores"], label + "scores");
    compare.close(all.cumulative, oracle[label + "cumulative"], label + "cumulative");
    // The search stops where, by the fixture, it would have found a better one, and nowhere else.
    for (int64_t sentence = 0; sentence < source.ids.size(0); ++sentence) {
      const nlohmann::json pair{i, sentence};
      const nlohmann::json& stops = oracle.metadata.at("early_stop_matters");
      const double best = oracle[label + "best_without_early_stop"][sentence].item<double>();
      EXPECT_EQ(best > found[static_cast<size_t>(sentence)][0].score + 1e-9, std::ranges::count(stops, pair) == 1)
          << label << sentence;
    }
    if (options.beam > 1) continue;
    const auto greedy = models::greedy_decoding(*model, source, options.lengths, options.length_penalty);
    for (size_t s = 0; s < greedy.size(); ++s) EXPECT_EQ(greedy[s].tokens, found[s][0].tokens) << s;
  }
}

}  // namespace
}  // namespace cachet
