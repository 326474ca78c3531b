#include "cachet/nn/layers/adaptive_softmax.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/clone_check.h"
#include "tests/support/gradient_check.h"
#include "tests/support/oracle.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using nn::AdaptiveEmbedding;
using nn::AdaptiveSoftmax;
using nn::AdaptiveVocabulary;
using test::Comparison;
using test::expect_refused;
using test::Oracle;

AdaptiveVocabulary small_vocabulary() { return {.tokens = 30, .dim = 8, .cutoffs = {8, 15, 22}}; }

// --- the published code ----------------------------------------------------------------------------------------------

AdaptiveVocabulary vocabulary_of(const Oracle& oracle) {
  return {.tokens = oracle.integer("n_token"),
          .dim = oracle.integer("d_proj"),
          .embedding_dim = oracle.integer("d_embed"),
          .cutoffs = oracle.metadata.at("cutoffs").get<std::vector<int64_t>>(),
          .division = oracle.integer("div_val")};
}

// The fixture's name of each of ours. The projections of the tails are one, the embedding's.
std::string adaptive_name_in_fixture(const std::string& ours) {
  if (ours == "table_0") return "out_layers.0.weight";
  if (ours == "bias_0") return "out_layers.0.bias";
  if (ours.starts_with("projection_")) return ours == "projection_0" ? "out_projs.0" : "out_projs.1";
  return ours;
}

class AdaptiveSoftmaxOracle : public ::testing::TestWithParam<std::string> {};

void expect_softmax_reproduced(const Oracle& oracle, at::ScalarType dtype) {
  Comparison compare(oracle.name, dtype == at::kFloat ? Comparison::kFloat32 : Comparison::kFloat64);
  const AdaptiveVocabulary vocabulary = vocabulary_of(oracle);
  const auto embedding = std::make_shared<AdaptiveEmbedding>(vocabulary);
  AdaptiveSoftmax softmax(vocabulary, {}, embedding);
  softmax.to(dtype);
  const auto parameters = softmax.named_parameters();
  for (const auto& parameter : parameters) {
    const at::NoGradGuard no_grad;
    parameter.value().copy_(oracle["param." + adaptive_name_in_fixture(parameter.key())]);
  }
  const at::Tensor hidden = oracle["hidden"].to(dtype).requires_grad_();
  const at::Tensor nll = softmax.negative_log_likelihood(hidden, oracle["target"]);
  (nll * oracle["dnll"]).sum().backward();
  compare.close(nll, oracle["nll"], "nll");
  compare.close(softmax.log_probabilities(hidden), oracle["logprob"], "logprob");
  compare.close(hidden.grad(), oracle["dhidden"], "dhidden");
  for (const auto& parameter : parameters) {
    const std::string name = "grad." + adaptive_name_in_fixture(parameter.key());
    compare.close(parameter.value().grad(), oracle[name], name);
  }
}

TEST_P(AdaptiveSoftmaxOracle, LossesDistributionAndGradientsAreReproduced) {
  expect_softmax_reproduced(test::load_oracle(GetParam()), at::kDouble);
}
TEST_P(AdaptiveSoftmaxOracle, TheFusedFormReproducesThemInFloat32) {
  expect_softmax_reproduced(test::load_oracle(GetParam()), at::kFloat);
}

INSTANTIATE_TEST_SUITE_P(Published, AdaptiveSoftmaxOracle, ::testing::ValuesIn(test::oracles({"adaptive_softmax"})),
                         [](const auto& info) { return info.param; });

// --- other properties ---------------------------------------------------------------------------------------

struct VocabularyForm {
  std::string name;
  AdaptiveVocabulary vocabulary;
  nn::AdaptiveTies ties;
};

std::vector<VocabularyForm> vocabulary_forms() {
  std::vector<VocabularyForm> all{{"one cluster", {.tokens = 11, .dim = 8}, {}},
                                  {"clusters", small_vocabulary(), {}},
                                  {"not tied", small_vocabulary(), {false, false}}};
  for (const bool tables : {true, false})
    for (const bool projections : {true, false})
      for (const int64_t division : {1, 2}) {
        AdaptiveVocabulary vocabulary = small_vocabulary();
        vocabulary.embedding_dim = division == 1 ? 5 : 8;
        vocabulary.division = division;
        all.push_back({"division " + std::to_string(division) + ", tables " + (tables ? "tied" : "apart") +
                           ", projections " + (projections ? "tied" : "apart"),
                       vocabulary,
                       {tables, projections}});
      }
  return all;
}

struct TiedPair {
  std::shared_ptr<AdaptiveEmbedding> embedding;
  std::shared_ptr<AdaptiveSoftmax> softmax;
};

// In float64, with weights of which tokens differ clearly.
TiedPair make_tied(const VocabularyForm& form) {
  TiedPair made{std::make_shared<AdaptiveEmbedding>(form.vocabulary), nullptr};
  made.softmax = std::make_shared<AdaptiveSoftmax>(form.vocabulary, form.ties, made.embedding);
  torch::nn::Module both;
  both.register_module("embedding", made.embedding);
  both.register_module("softmax", made.softmax);
  both.to(at::kDouble);
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : both.parameters()) parameter.normal_(0, 0.7);
  return made;
}

TEST(AdaptiveSoftmax, IsADistributionWhoseTargetsAreTheLikelihoods) {
  for (const VocabularyForm& form : vocabulary_forms()) {
    const TiedPair made = make_tied(form);
    const int64_t tokens = form.vocabulary.tokens;
    const at::Tensor hidden = at::randn({tokens, 8}, at::kDouble), target = at::arange(tokens);
    const at::Tensor logs = made.softmax->log_probabilities(hidden);
    EXPECT_TRUE(at::allclose(logs.exp().sum(1), at::ones({tokens}, at::kDouble), 0, 1e-12)) << form.name;
    EXPECT_TRUE(at::allclose(made.softmax->negative_log_likelihood(hidden, target), -logs.diagonal(), 0, 1e-12))
        << form.name;
  }
}

TEST(AdaptiveSoftmax, ATokenThatIsNoneCostsNothing) {
  const TiedPair made = make_tied({"", small_vocabulary(), {}});
  const at::Tensor hidden = at::randn({3, 8}, at::kDouble);
  const at::Tensor whole = made.softmax->negative_log_likelihood(hidden, at::tensor({9, 25, 2}, at::kLong));
  const at::Tensor nll = made.softmax->negative_log_likelihood(hidden, at::tensor({9, -1, 2}, at::kLong));
  EXPECT_EQ(nll[1].item<double>(), 0);
  EXPECT_TRUE(at::equal(nll[0], whole[0]));
  EXPECT_TRUE(at::equal(nll[2], whole[2]));
}

TEST(AdaptiveSoftmax, GradientsEqualFiniteDifferences) {
  for (const VocabularyForm& form : vocabulary_forms()) {
    const TiedPair made = make_tied(form);
    const at::Tensor ids = at::tensor({1, 9, 17, 28, 9}, at::kLong).remainder(form.vocabulary.tokens);
    const at::Tensor target = at::tensor({20, 3, 9, -1, 29}, at::kLong).clamp_max(form.vocabulary.tokens - 1);
    std::vector<at::Tensor> parameters = made.embedding->parameters();
    for (const at::Tensor& own : made.softmax->parameters())
      if (std::none_of(parameters.begin(), parameters.end(), [&](const auto& p) { return p.is_same(own); }))
        parameters.push_back(own);
    std::vector<at::Tensor> start;
    for (const at::Tensor& parameter : parameters) start.push_back(parameter.detach().clone());
    test::expect_gradients(
        [&](const auto& in) {
          for (size_t i = 0; i < parameters.size(); ++i) parameters[i].set_data(in[i].detach());
          const at::Tensor nll =
              made.softmax->negative_log_likelihood(made.embedding->forward(ids).tanh(), target).sum();
          if (!at::GradMode::is_enabled()) return nll;
          // The gradient that the parameters get, as that of what was given.
          const auto grads = torch::autograd::grad({nll}, parameters);
          at::Tensor through = nll.detach();
          for (size_t i = 0; i < parameters.size(); ++i)
            through = through + (grads[i] * (in[i] - in[i].detach())).sum();
          return through;
        },
        start);
  }
}

TEST(AdaptiveEmbedding, IsTheTablesRowTimesTheRootOfItsChannels) {
  for (const VocabularyForm& form : vocabulary_forms()) {
    const TiedPair made = make_tied(form);
    const at::Tensor ids = at::arange(form.vocabulary.tokens).view({1, -1}).flip(1);
    const at::Tensor embedded = made.embedding->forward(ids);
    ASSERT_EQ(embedded.sizes(), (std::vector<int64_t>{1, form.vocabulary.tokens, 8})) << form.name;
    const auto clusters = nn::clusters_of(form.vocabulary);
    for (size_t i = 0; i < clusters.size(); ++i) {
      const size_t table = has_one_table(form.vocabulary) ? 0 : i;
      const int64_t id = clusters[i].first + clusters[i].count - 1;
      at::Tensor expected =
          made.embedding->table(table)[has_one_table(form.vocabulary) ? id : clusters[i].count - 1] * std::sqrt(8.0);
      if (made.embedding->projection(table).defined()) expected = at::mv(made.embedding->projection(table), expected);
      EXPECT_TRUE(at::allclose(embedded[0][form.vocabulary.tokens - 1 - id], expected, 0, 1e-12)) << form.name;
    }
  }
}

TEST(AdaptiveSoftmax, WhatIsTiedIsOneTensorAndStaysSoInACopy) {
  struct Model : nn::Cloneable<Model> {
    Model() : Cloneable("Model") {
      AdaptiveVocabulary vocabulary = small_vocabulary();
      vocabulary.division = 2;
      embedding = register_module("embedding", std::make_shared<AdaptiveEmbedding>(vocabulary));
      softmax = register_module(
          "softmax", std::make_shared<AdaptiveSoftmax>(vocabulary, nn::AdaptiveTies{},
                                                       std::static_pointer_cast<AdaptiveEmbedding>(embedding)));
    }
    nn::Submodule<AdaptiveEmbedding> embedding;
    nn::Submodule<AdaptiveSoftmax> softmax;
  };
  const Model model;
  const auto copy = std::dynamic_pointer_cast<Model>(model.clone());
  for (const Model* each : {&model, static_cast<const Model*>(copy.get())}) {
    const auto parameters = each->named_parameters();
    for (const char* table : {"table_0", "table_1", "table_2", "table_3", "projection_1", "projection_2"})
      EXPECT_TRUE(parameters[std::string("embedding.") + table].is_same(parameters[std::string("softmax.") + table]))
          << table;
    EXPECT_FALSE(parameters["embedding.projection_0"].is_same(parameters["softmax.projection_0"]));
  }
  EXPECT_FALSE(model.embedding->table(0).is_same(copy->embedding->table(0)));
}

TEST(AdaptiveSoftmax, NamesWhatItRefuses) {
  const auto refuses = [](const char* why, const AdaptiveVocabulary& vocabulary) {
    expect_refused([&] { AdaptiveEmbedding made(vocabulary); }, why);
  };
  refuses("tokens must be at least 1", {.tokens = 0, .dim = 8});
  refuses("dim must be at least 1", {.tokens = 5, .dim = 0});
  refuses("division must be at least 1", {.tokens = 5, .dim = 8, .division = 0});
  refuses("embedding_dim must be at least 0", {.tokens = 5, .dim = 8, .embedding_dim = -1});
  for (const std::vector<int64_t>& cutoffs : {std::vector<int64_t>{0}, {5}, {2, 2}, {3, 2}, {2, 6}, {-1}})
    refuses("cutoffs must ascend between 0 and the 5 tokens", {.tokens = 5, .dim = 8, .cutoffs = cutoffs});
  refuses("cluster 2 has no channel left: 8 divided by 4 2 times",
          {.tokens = 5, .dim = 8, .cutoffs = {1, 2}, .division = 4});
  expect_refused([] { AdaptiveSoftmax made(small_vocabulary(), {}, nullptr); }, "need the embedding");

  for (const int64_t division : {1, 2}) {
    AdaptiveVocabulary vocabulary = small_vocabulary();
    vocabulary.division = division;
    const AdaptiveEmbedding embedding(vocabulary);
    for (const int64_t wrong : {-1, 30})
      EXPECT_THROW(embedding.forward(at::tensor({int64_t{1}, wrong}, at::kLong)), c10::Error) << wrong;
    EXPECT_EQ(embedding.forward(at::zeros({2, 0}, at::kLong)).sizes(), (std::vector<int64_t>{2, 0, 8}));
    expect_refused([&] { embedding.forward(at::zeros({2}, at::kInt)); }, "ids must be int64");
  }
  const AdaptiveSoftmax softmax(small_vocabulary(), {false, false}, nullptr);
  const at::Tensor hidden = at::randn({2, 8});
  const auto ids = [](int64_t second) { return at::tensor({int64_t{1}, second}, at::kLong); };
  expect_refused([&] { softmax.negative_log_likelihood(at::randn({2, 7}), ids(2)); }, "hidden must be (N, 8)");
  expect_refused([&] { softmax.negative_log_likelihood(hidden, ids(2).to(at::kInt)); }, "target must be int64");
  expect_refused([&] { softmax.log_probabilities(at::randn({8})); }, "hidden must be (N, 8)");
  for (const int64_t wrong : {-2, 30, 31, 40})
    EXPECT_THROW(softmax.negative_log_likelihood(hidden, ids(wrong)), c10::Error) << wrong;
}

}  // namespace
}  // namespace cachet
