#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "cachet/models/language/beam_search.h"
#include "cachet/models/language/greedy_decoding.h"
#include "cachet/models/language/sampled_decoding.h"
#include "tests/models/language/small_translation.h"
#include "tests/support/refused.h"
#include "tests/support/thrown_message.h"

namespace cachet {
namespace {

using models::BeamOptions;
using models::Hypothesis;
using models::LengthLimits;
using models::Sequences;

// Long enough for batch rows to leave at many steps.
std::shared_ptr<models::TranslationTransformer> made_translator() {
  auto options = test::small_translation_options();
  options.text.source_length = options.text.target_length = 24;
  const auto model = test::made_translation_model(options);
  model->eval();
  return model;
}

Sequences drawn_sources(int64_t count) {
  Sequences source{at::randint(4, 20, {count, 9}, at::kLong), at::zeros({count, 9}, at::kBool)};
  for (int64_t i = 0; i < count; ++i) source.padding[i].narrow(0, 9 - i % 6, i % 6).fill_(true);
  source.ids.masked_fill_(source.padding, 0);
  return source;
}

Sequences one_of(const Sequences& all, int64_t i) {
  const int64_t length = all.padding[i].bitwise_not().sum().item<int64_t>();
  return {all.ids[i].narrow(0, 0, length).unsqueeze(0), {}};
}

void expect_equal(const Hypothesis& a, const Hypothesis& b, const std::string& what) {
  EXPECT_EQ(a.tokens, b.tokens) << what;
  EXPECT_NEAR(a.score, b.score, 1e-9) << what;
}

// What the encoder left is there once a sentence, however many batch rows write translations of it.
TEST(Decoding, WhatGoesOnFillsTheGapsOfWhatDoesNot) {
  using Positions = std::vector<int64_t>;
  EXPECT_EQ(models::with_gaps_filled({}), Positions());
  EXPECT_EQ(models::with_gaps_filled({0, 1, 2}), Positions({0, 1, 2}));
  EXPECT_EQ(models::with_gaps_filled({5}), Positions({5}));
  EXPECT_EQ(models::with_gaps_filled({1, 3, 4, 6}), Positions({6, 1, 4, 3}));
}

TEST(Decoding, LanesOfASentenceShareItsKeysAndSayTheSame) {
  for (const char* kind : {"softmax", "elu", "kernel"}) {
    auto options = test::small_translation_options();
    if (*kind == 'e') options.cross_attention.function = nn::EluOptions{};
    if (*kind == 'k') options.cross_attention.function = nn::KernelOptions{};
    const auto model = test::made_translation_model(options);
    model->eval();
    const at::NoGradGuard no_grad;
    const Sequences source{at::randint(4, 20, {3, 6}, at::kLong), at::zeros({3, 6}, at::kBool)};
    source.padding[1].narrow(0, 4, 2).fill_(true);
    const at::Tensor beams = at::tensor({0, 0, 0, 1, 1, 1, 2, 2, 2}, at::kLong), begin = at::full({3}, 2, at::kLong);
    // The one forks after the first token, the other has all batch rows from the beginning, each with keys of its own.
    models::TranslationSession forked = model->make_session(model->encode(source));
    models::TranslationSession apart =
        model->make_session(model->encode({source.ids.index_select(0, beams), source.padding.index_select(0, beams)}));
    model->next_token(begin, forked);
    model->next_token(begin.index_select(0, beams), apart);
    model->reorder(forked, beams, /*same_sentences=*/false);
    const auto keys = [](const models::TranslationSession& session) {
      return session.state->part("block_1").part("cross_attn").get("context_keys");
    };
    EXPECT_EQ(keys(forked).size(0), 3);
    EXPECT_EQ(keys(apart).size(0), 9);
    const auto expect_same = [&] {
      const at::Tensor ids = at::randint(4, 20, {forked.batch_rows()}, at::kLong);
      EXPECT_LE((model->next_token(ids, forked) - model->next_token(ids, apart)).abs().max().item<double>(), 1e-9)
          << kind;
    };
    expect_same();
    for (const auto& rows : {std::vector<int64_t>{2, 0, 0, 3, 4, 5, 8, 8, 8}, {0, 1, 2, 6, 7, 8}, {0, 4, 5}, {1, 2}}) {
      model->reorder(forked, at::tensor(rows, at::kLong), false);
      model->reorder(apart, at::tensor(rows, at::kLong), false);
      expect_same();
    }
  }
}

TEST(Decoding, ABeamOfOneIsGreedy) {
  const auto model = made_translator();
  const Sequences source = drawn_sources(12);
  for (const LengthLimits& limits : {LengthLimits{}, LengthLimits{4, 1.0, 2}, LengthLimits{0, 0, 0}}) {
    const auto greedy = models::greedy_decoding(*model, source, limits, 0.6);
    const auto beam = models::beam_search(*model, source, {1, 0.6, 1, limits});
    for (size_t i = 0; i < greedy.size(); ++i) expect_equal(greedy[i], beam[i].at(0), std::to_string(i));
  }
}

TEST(Decoding, BatchesDoNotChangeTranslations) {
  const auto model = made_translator();
  constexpr int64_t kSentences = 40;  // which are encoded in two parts
  const Sequences source = drawn_sources(kSentences);
  const BeamOptions options{3, 1.0, 3, {1, 1.5, 3}};
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < kSentences; ++i) numbers.push_back(100 + i);
  const auto beam = models::beam_search(*model, source, options);
  const auto greedy = models::greedy_decoding(*model, source, options.lengths);
  const auto drawn = models::sampled_decoding(*model, source, numbers, {.temperature = 2}, 7, options.lengths);
  std::set<std::vector<int64_t>> different;
  for (int64_t i = 0; i < kSentences; ++i) {
    const Sequences own = one_of(source, i);
    const auto at = static_cast<size_t>(i);
    const std::string what = std::to_string(i);
    const auto alone = models::beam_search(*model, own, options);
    ASSERT_EQ(alone[0].size(), beam[at].size());
    for (size_t n = 0; n < alone[0].size(); ++n) expect_equal(alone[0][n], beam[at][n], what);
    expect_equal(models::greedy_decoding(*model, own, options.lengths)[0], greedy[at], what);
    const std::vector<int64_t> number{numbers[at]};
    expect_equal(models::sampled_decoding(*model, own, number, {.temperature = 2}, 7, options.lengths)[0], drawn[at],
                 what);
    different.insert(drawn[at].tokens);
  }
  EXPECT_GT(different.size(), 20u);
}

// What a translation scores when the model reads it as a whole.
double score_of(models::TranslationTransformer& model, const Sequences& source, const Hypothesis& hypothesis) {
  std::vector<int64_t> before{2};
  before.insert(before.end(), hypothesis.tokens.begin(), hypothesis.tokens.end() - 1);
  const at::Tensor targets = at::tensor(hypothesis.tokens, at::kLong).unsqueeze(0);
  const auto losses = model.losses({source, {at::tensor(before, at::kLong).unsqueeze(0), {}}, targets}, {});
  return -losses.negative_log_likelihood.mean().item<double>();
}

TEST(Decoding, ScoresAreThoseOfTheWholeTranslationWithoutAKeptState) {
  const auto model = made_translator();
  const at::NoGradGuard no_grad;
  const Sequences source = drawn_sources(8);
  const auto beam = models::beam_search(*model, source, {4, 1.0, 4});
  const std::vector<int64_t> numbers{0, 1, 2, 3, 4, 5, 6, 7};
  const auto drawn = models::sampled_decoding(*model, source, numbers, {.temperature = 3}, 1);
  for (int64_t i = 0; i < 8; ++i) {
    const Sequences own = one_of(source, i);
    double last = 0;
    for (const Hypothesis& each : beam[static_cast<size_t>(i)]) {
      EXPECT_NEAR(each.score, score_of(*model, own, each), 1e-9);
      EXPECT_LE(each.score, last);
      last = each.score;
    }
    EXPECT_NEAR(drawn[static_cast<size_t>(i)].score, score_of(*model, own, drawn[static_cast<size_t>(i)]), 1e-9);
  }
}

TEST(Decoding, LengthsKeepTheirLimits) {
  const auto model = made_translator();
  const Sequences source = drawn_sources(10);
  for (const LengthLimits& limits : {LengthLimits{5, 0.0, 9}, LengthLimits{1, 0.5, 2}, LengthLimits{0, 0.0, 0},
                                     LengthLimits{9, 0.0, 3}, LengthLimits{1, 100.0, 200}})
    for (const auto& hypotheses :
         std::vector<std::vector<std::vector<Hypothesis>>>{models::beam_search(*model, source, {3, 1.0, 3, limits}),
                                                           {models::greedy_decoding(*model, source, limits)}})
      for (size_t i = 0; i < hypotheses.size(); ++i)
        for (size_t n = 0; n < hypotheses[i].size(); ++n) {
          const auto sentence = static_cast<int64_t>(hypotheses.size() == 1 ? n : i);
          const auto words = static_cast<double>(hypotheses[i][n].tokens.size()) - 1;
          const double width = static_cast<double>(one_of(source, sentence).ids.size(1));
          const double longest =
              std::min(23.0, std::floor(limits.per_token * width + static_cast<double>(limits.added)));
          EXPECT_LE(words, longest);
          EXPECT_GE(words, std::min(longest, static_cast<double>(limits.shortest)));
          EXPECT_EQ(hypotheses[i][n].tokens.back(), 3);
          EXPECT_EQ(std::ranges::count(hypotheses[i][n].tokens, 0), 0) << "padding is no word";
        }
}

TEST(Decoding, SurestSamplesAreGreedyAndSeedsDiffer) {
  const auto model = made_translator();
  const Sequences source = drawn_sources(6);
  const std::vector<int64_t> numbers{0, 1, 2, 3, 4, 5};
  const auto greedy = models::greedy_decoding(*model, source);
  const auto surest = models::sampled_decoding(*model, source, numbers, {.temperature = 0}, 3);
  const auto one = models::sampled_decoding(*model, source, numbers, {.top_k = 1}, 3);
  for (size_t i = 0; i < 6; ++i) {
    expect_equal(greedy[i], surest[i], "temperature 0");
    expect_equal(greedy[i], one[i], "top-k 1");
  }
  const auto drawn = [&](uint64_t seed) {
    std::vector<std::vector<int64_t>> tokens;
    for (const auto& each : models::sampled_decoding(*model, source, numbers, {}, seed)) tokens.push_back(each.tokens);
    return tokens;
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
}

// Of a vocabulary that was padded upwards, for example to a multiple of 64.
TEST(Decoding, NoTranslationHasAnIdThatOnlyPadsTheVocabulary) {
  const auto model = made_translator();
  const Sequences source = drawn_sources(6);
  const std::vector<int64_t> numbers{0, 1, 2, 3, 4, 5};
  const auto largest = [&] {
    int64_t token = 0;
    const auto look = [&](const Hypothesis& hypothesis) {
      token = std::max(token, *std::ranges::max_element(hypothesis.tokens));
    };
    std::ranges::for_each(models::greedy_decoding(*model, source), look);
    std::ranges::for_each(models::sampled_decoding(*model, source, numbers, {}, 7), look);
    for (const auto& best : models::beam_search(*model, source, {3, 1.0, 3})) std::ranges::for_each(best, look);
    return token;
  };
  EXPECT_GE(largest(), 9) << "else this tells nothing";
  model->set_tokens({0, 2, 3, 9});
  EXPECT_LE(largest(), 8);
  model->set_tokens({0, 2, 3, 20});
  EXPECT_GE(largest(), 9);
}

TEST(Decoding, OptionsAreRefusedByName) {
  const auto model = made_translator();
  const Sequences source = drawn_sources(2);
  const auto message = [&](const BeamOptions& options) {
    return test::thrown_message<std::invalid_argument>([&] { models::beam_search(*model, source, options); });
  };
  EXPECT_NE(message({0}).find("the beam size must be at least 1"), std::string::npos);
  EXPECT_NE(message({2, 1.0, 3}).find("n-best must be from 1 to the beam size (2)"), std::string::npos);
  EXPECT_NE(message({2, std::nan("")}).find("length penalty"), std::string::npos);
  EXPECT_NE(message({2, 1.0, 1, {-1}}).find("minimum length"), std::string::npos);
  EXPECT_NE(message({2, 1.0, 1, {1, -1.0}}).find("maximum length"), std::string::npos);
  const std::vector<int64_t> numbers{1};
  EXPECT_THROW(models::sampled_decoding(*model, source, numbers, {}, 0), std::invalid_argument);
  model->train();
  test::expect_refused([&] { models::greedy_decoding(*model, source); }, "call eval() first");
}

TEST(Decoding, AModelThatDivergedIsSaidToHave) {
  const auto model = made_translator();
  const at::NoGradGuard no_grad;
  model->named_parameters()["decoder_norm.weight"].fill_(std::nan(""));
  const std::string said =
      test::thrown_message<std::runtime_error>([&] { models::beam_search(*model, drawn_sources(2), {}); });
  EXPECT_NE(said.find("diverged"), std::string::npos) << said;
}

}  // namespace
}  // namespace cachet
