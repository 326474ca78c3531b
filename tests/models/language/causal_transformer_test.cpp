#include "cachet/models/language/causal_transformer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/config/document.h"
#include "cachet/config/problem.h"
#include "cachet/models/language/token_generator.h"
#include "cachet/models/registry.h"
#include "tests/models/language/language_model_checks.h"
#include "tests/support/all_norms.h"
#include "tests/support/autocast.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using models::CausalTransformer;
using models::CausalTransformerOptions;
using models::LanguageSession;
using test::drawn_ids;
using test::expect_refused;

CausalTransformerOptions small_causal_options() {
  CausalTransformerOptions o;
  o.vocabulary = {.tokens = 20, .dim = 8, .cutoffs = {6, 12}};
  o.target_length = 5;
  o.depth = 2;
  o.num_heads = 2;
  o.mlp_dim = 12;
  o.dropout = 0;
  return o;
}

// Every causal attention, with what may lie beyond the segment.
std::vector<std::pair<std::string, CausalTransformerOptions>> causal_forms() {
  std::vector<std::pair<std::string, CausalTransformerOptions>> all;
  const auto with = [&](const char* name, const nn::AttentionFunctionOptions& function, bool whole_past,
                        const nn::CacheOptions& cache = {}) {
    CausalTransformerOptions o = small_causal_options();
    o.plug_ins.attention.function = function;
    o.plug_ins.cache = cache;
    o.whole_past = whole_past;
    all.emplace_back(name, o);
  };
  nn::GatedRecurrentCacheOptions grc;
  grc.length = 3;
  grc.inference = nn::CacheInference::updated;
  const nn::KernelOptions two_layers{.form = nn::KernelForm::glu, .layers = 2};
  with("softmax", nn::SoftmaxOptions{}, false);
  with("softmax, cached", nn::SoftmaxOptions{}, false, grc);
  with("local", nn::LocalOptions{2}, false);
  with("performer", nn::PerformerOptions{.form = nn::RandomFeatures::relu}, false);
  with("elu", nn::EluOptions{}, true);
  with("kernel, segments", two_layers, false);
  with("kernel", two_layers, true);
  with("kernel, cached", two_layers, false, grc);
  return all;
}

std::shared_ptr<CausalTransformer> made_causal_model(const CausalTransformerOptions& options) {
  auto model = std::make_shared<CausalTransformer>(options);
  model->to(at::kDouble);
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : model->parameters()) parameter.add_(at::randn_like(parameter) / 4);
  return model;
}

TEST(CausalTransformer, NoTokenSeesItsFutureWhateverTheAttentionAndTheNorm) {
  for (const auto& [form, options] : causal_forms())
    for (const auto& [norm, norm_options] : test::causal_norms())
      for (const auto place : {nn::NormPlace::before, nn::NormPlace::after}) {
        if (place == nn::NormPlace::after && form != "softmax")
          continue;  // the position of the norm does not depend on the attention
        CausalTransformerOptions o = options;
        o.norm_place = place;
        o.plug_ins.norm = norm_options;
        const auto model = made_causal_model(o);
        test::expect_no_token_sees_its_future(*model, model->segments(), form + ", " + norm);
      }
}

TEST(CausalTransformer, AWholePastIsTheWholeTextInSegments) {
  const at::NoGradGuard no_grad;
  for (const auto& [form, options] : causal_forms()) {
    if (!options.whole_past) continue;
    const auto model = made_causal_model(options);
    model->eval();
    const at::Tensor ids = drawn_ids(2, 12), targets = drawn_ids(2, 12);
    LanguageSession whole = model->make_session(2, model->segments()),
                    pieces = model->make_session(2, model->segments());
    const at::Tensor expected = model->negative_log_likelihood(ids, targets, whole);
    int64_t first = 0;
    for (const int64_t length : {5, 1, 6}) {
      const at::Tensor piece =
          model->negative_log_likelihood(ids.narrow(1, first, length), targets.narrow(1, first, length), pieces);
      EXPECT_TRUE(at::allclose(piece, expected.narrow(1, first, length), 1e-10, 1e-12)) << form;
      first += length;
    }
  }
}

TEST(CausalTransformer, EveryFormTrainsAndIsEvaluatedInBFloat16) {
  for (const auto& [form, options] : causal_forms()) {
    const auto model = made_causal_model(options);
    model->to(at::kFloat);
    const at::Tensor first = drawn_ids(2, 5), second = drawn_ids(2, 5), targets = drawn_ids(2, 5);
    for (const bool training : {true, false}) {
      model->train(training);
      const auto losses = [&] {
        LanguageSession session = model->make_session(2, model->segments());
        model->read(first, session);
        return model->negative_log_likelihood(second, targets, session);
      };
      const at::Tensor expected = losses();
      const test::BFloat16Autocast autocast;
      const at::Tensor narrow = losses();
      EXPECT_TRUE(at::allclose(narrow.to(at::kFloat), expected, 0.1, 0.1)) << form << ", training " << training;
      narrow.sum().backward();
      for (const auto& parameter : model->named_parameters())
        EXPECT_TRUE(!parameter->grad().defined() || at::isfinite(parameter->grad()).all().item<bool>())
            << form << ": " << parameter.key();
      model->zero_grad();
    }
  }
}

TEST(CausalTransformer, GradientsReachThroughTheSegmentsOfAStepAndNoFurther) {
  CausalTransformerOptions o = small_causal_options();
  o.plug_ins.attention.function = nn::KernelOptions{};
  o.whole_past = true;
  const auto model = made_causal_model(o);
  const at::Tensor first = drawn_ids(1, 5), second = drawn_ids(1, 5), targets = drawn_ids(1, 5);
  const auto gradient = [&](bool together) {
    model->zero_grad();
    LanguageSession session = model->make_session(1, model->segments());
    model->read(first, session);
    if (!together) session.state->detach();
    model->negative_log_likelihood(second, targets, session).sum().backward();
    return model->named_parameters()["blocks.0.attn.qkv.weight"].grad().clone();
  };
  EXPECT_FALSE(at::allclose(gradient(true), gradient(false)));
}

TEST(CausalTransformer, AStreamGoesOnFromWhatItSaved) {
  for (const auto& [form, options] : causal_forms()) {
    const auto model = made_causal_model(options);
    test::expect_stream_goes_on(*model, model->segments(), form);
  }
}

TEST(CausalTransformer, WritesOnWithTheSurestTokensOfTheWholeText) {
  const at::NoGradGuard no_grad;
  for (const auto& [form, options] : causal_forms()) {
    const auto model = made_causal_model(options);
    model->eval();
    const std::vector<int64_t> prompt{3, 14, 15, 9, 2, 6, 5};
    models::TokenGenerator generator(*model, model->segments(), {.temperature = 0}, 0);
    generator.read(prompt);
    std::vector<int64_t> written;
    for (int64_t i = 0; i < 14; ++i) written.push_back(generator.next());
    EXPECT_EQ(written, test::surest_by_hand(*model, model->segments(), prompt, 14)) << form;
  }
}

TEST(CausalTransformer, NamesWhatItRefuses) {
  const auto refuses = [](const char* why, const auto& change) {
    CausalTransformerOptions o = small_causal_options();
    change(o);
    expect_refused([&] { CausalTransformer model(o); }, why);
  };
  refuses("target_length must be at least 1", [](auto& o) { o.target_length = 0; });
  refuses("depth must be at least 1", [](auto& o) { o.depth = 0; });
  refuses("mlp_dim must be at least 1", [](auto& o) { o.mlp_dim = 0; });
  refuses("causal_transformer: dropout", [](auto& o) { o.dropout = 1; });
  refuses("has no causal form", [](auto& o) { o.plug_ins.attention.function = nn::LshOptions{}; });
  refuses("scales by the largest value of all keys",
          [](auto& o) { o.plug_ins.attention.function = nn::PerformerOptions{}; });
  refuses("whole_past needs linear attention", [](auto& o) { o.whole_past = true; });
  CausalTransformer model(small_causal_options());
  expect_refused([&] { model.make_session(1, {.memory_length = 4}); }, "memory_length and clamp_length must be 0");
  expect_refused([&] { model.make_session(1, {.whole_past = true}); }, "whole_past needs linear attention");
  LanguageSession session = model.make_session(2, {});
  expect_refused([&] { model.read(drawn_ids(3, 5), session); },
                 "ids must have as many batch rows as the session (2), got 3");
  expect_refused([&] { model.read(drawn_ids(2, 0), session); }, "with L of at least 1");
  expect_refused([&] { model.negative_log_likelihood(drawn_ids(2, 5), drawn_ids(2, 4), session); },
                 "targets must have the shape of ids");
}

TEST(CausalTransformerRecipe, SaysWhatDoesNotGoTogether) {
  const auto problems = [](const std::string& keys) {
    auto document = config::Document::from_text("[model]\nname = \"causal_transformer_small\"\n" + keys, "r.toml");
    models::read_language_model(document.root().table("model"));
    try {
      document.finish();
    } catch (const config::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto says = [&](const std::string& keys, const std::string& text) {
    EXPECT_NE(problems(keys).find(text), std::string::npos) << keys << ": " << problems(keys);
  };
  EXPECT_EQ(problems("whole_past = true\nattention = {kind = \"kernel\", layers = 2}\n"), "");
  says("whole_past = true\n", "needs linear attention with running sums");
  says("whole_past = true\nattention = {kind = \"elu\"}\ncache = {kind = \"grc\"}\n",
       "cannot be used together with a cache");
  says("attention = {kind = \"bigbird\"}\n", "has no causal form");
  says("num_heads = 3\n", "must divide embed_dim (256), got 3");
}

}  // namespace
}  // namespace cachet
