#include "cachet/models/language/transformer_xl.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/config/document.h"
#include "cachet/config/problem.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/language/token_generator.h"
#include "cachet/models/registry.h"
#include "cachet/nn/base/initialization.h"
#include "tests/models/language/language_model_checks.h"
#include "tests/support/all_norms.h"
#include "tests/support/clone_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using models::LanguageSession;
using models::SegmentOptions;
using models::TransformerXL;
using models::TransformerXLOptions;
using test::drawn_ids;
using test::expect_refused;

TransformerXLOptions small_language_options() {
  TransformerXLOptions o;
  o.vocabulary = {.tokens = 20, .dim = 8, .cutoffs = {6, 12}};
  o.target_length = 5;
  o.segments.memory_length = 7;
  o.depth = 2;
  o.num_heads = 2;
  o.mlp_dim = 12;
  o.dropout = 0;
  return o;
}

// Everything that may stand instead of the memory.
std::vector<std::pair<std::string, TransformerXLOptions>> language_memories() {
  std::vector<std::pair<std::string, TransformerXLOptions>> all;
  const auto with = [&](const char* name, const auto& change) {
    TransformerXLOptions o = small_language_options();
    change(o);
    all.emplace_back(name, o);
  };
  const auto cached = [](const nn::CacheOptions& cache) {
    return [cache](TransformerXLOptions& o) {
      o.segments.memory_length = 0;
      o.plug_ins.cache = cache;
    };
  };
  nn::GatedRecurrentCacheOptions grc;
  grc.length = 3;
  grc.inference = nn::CacheInference::updated;
  nn::GatedRecurrentCacheOptions batch_row = grc;
  batch_row.scope = nn::CacheScope::batch_row;
  nn::FifoCacheOptions fifo;
  fifo.length = 3;
  fifo.scope = nn::CacheScope::batch_row;
  with("none", [](TransformerXLOptions& o) { o.segments.memory_length = 0; });
  with("segments", [](TransformerXLOptions&) {});
  with("segments, same length", [](TransformerXLOptions& o) { o.segments.same_length = true; });
  with("grc", cached(grc));
  with("grc, lanes", cached(batch_row));
  with("fifo, lanes", cached(fifo));
  with("memory tokens", [](TransformerXLOptions& o) { o.memory_tokens = {2, false, true}; });
  with("recurrent memory", [](TransformerXLOptions& o) {
    o.segments.memory_length = 0;
    o.memory_tokens = {2, true, false};
  });
  return all;
}

// In float64, with weights that make neighbours matter.
std::shared_ptr<TransformerXL> made_language_model(const TransformerXLOptions& options) {
  auto model = std::make_shared<TransformerXL>(options);
  model->to(at::kDouble);
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : model->parameters()) parameter.add_(at::randn_like(parameter) / 4);
  return model;
}

TEST(TransformerXL, NoTokenSeesItsFutureWhateverTheMemoryAndTheNorm) {
  for (const auto& [memory, options] : language_memories())
    for (const auto& [norm, norm_options] : test::causal_norms())
      for (const auto place : {nn::NormPlace::before, nn::NormPlace::after}) {
        TransformerXLOptions o = options;
        o.norm_place = place;
        o.plug_ins.norm = norm_options;
        test::expect_no_token_sees_its_future(*made_language_model(o), o.segments, memory + ", " + norm);
      }
}

TEST(TransformerXL, AStreamGoesOnFromWhatItSaved) {
  for (const auto& [memory, options] : language_memories())
    for (const bool training : {true, false}) {
      const auto model = made_language_model(options);
      model->train(training);
      test::expect_stream_goes_on(*model, options.segments, memory);
    }
}

TEST(TransformerXL, TheMemoryIsReadAndItsLengthCounts) {
  const at::NoGradGuard no_grad;
  for (const auto& [memory, options] : language_memories()) {
    const auto model = made_language_model(options);
    model->eval();
    const at::Tensor ids = drawn_ids(1, 5), targets = drawn_ids(1, 5);
    LanguageSession one = model->make_session(1, options.segments), other = model->make_session(1, options.segments);
    model->read(drawn_ids(1, 5), one);
    model->read(drawn_ids(1, 5), other);
    const bool equal = at::equal(model->negative_log_likelihood(ids, targets, one),
                                 model->negative_log_likelihood(ids, targets, other));
    EXPECT_EQ(equal, memory == "none") << memory;
  }
}

TEST(TransformerXL, HasWhatIsPublishedAsParameters) {
  const auto count = [](const char* name) {
    config::Document document;
    document.set(std::string("model.name=") + name);
    const auto plan = models::read_language_model(document.root().table("model"));
    document.finish();
    const nn::WithoutInitialization no_values;
    int64_t all = 0;
    for (const auto& parameter : io::distinct_parameters(*plan.build())) all += parameter.tensor.numel();
    return all;
  };
  EXPECT_EQ(count("transformer_xl_wt103_base"), 151'107'538);
  EXPECT_EQ(count("transformer_xl_wt103_large"), 285'170'506);
}

TEST(TransformerXL, ACopyHasItsOwnTiedWeights) {
  const auto model = made_language_model(small_language_options());
  const auto copy = std::dynamic_pointer_cast<TransformerXL>(model->clone());
  const auto parameters = copy->named_parameters();
  EXPECT_TRUE(parameters["embedding.table_0"].is_same(parameters["output.table_0"]));
  EXPECT_TRUE(parameters["blocks.0.attn.content_bias"].is_same(parameters["blocks.1.attn.content_bias"]));
  EXPECT_FALSE(parameters["embedding.table_0"].is_same(model->named_parameters()["embedding.table_0"]));
}

TEST(TokenGenerator, TheSurestTokensAreThoseOfTheWholeText) {
  const at::NoGradGuard no_grad;
  for (auto [memory, options] : language_memories()) {
    if (options.segments.same_length) continue;  // each token's window is another in one piece and in several
    if (options.segments.memory_length > 0) options.segments.memory_length = 40;
    if (options.segments.memory_length > 0 && options.memory_tokens.count == 0) options.target_length = 40;
    const auto model = made_language_model(options);
    model->eval();
    models::TokenGenerator generator(*model, options.segments, {.temperature = 0}, 0);
    const std::vector<int64_t> prompt{3, 14, 15, 9, 2, 6, 5};
    generator.read(prompt);
    std::vector<int64_t> written;
    for (int64_t i = 0; i < 14; ++i) written.push_back(generator.next());
    EXPECT_EQ(written, test::surest_by_hand(*model, options.segments, prompt, 14)) << memory;
  }
}

TEST(TokenGenerator, DrawsBySeedAndKeepsABoundedState) {
  for (const auto& [memory, options] : language_memories()) {
    const auto model = made_language_model(options);
    model->eval();
    const auto written = [&](uint64_t seed) {
      models::TokenGenerator generator(*model, options.segments, {.top_k = 10}, seed);
      generator.read(std::vector<int64_t>{1});
      std::vector<int64_t> tokens;
      for (int64_t i = 0; i < 40; ++i) tokens.push_back(generator.next());
      return tokens;
    };
    EXPECT_EQ(written(5), written(5)) << memory;
    EXPECT_NE(written(5), written(6)) << memory;
  }
  const auto model = made_language_model(small_language_options());
  EXPECT_THROW(models::TokenGenerator(*model, {}, {.temperature = -1}, 0), std::invalid_argument);
  EXPECT_THROW(models::TokenGenerator(*model, {}, {}, 0, model->language_shape().vocabulary + 1),
               std::invalid_argument);
  models::TokenGenerator generator(*model, {}, {}, 0);
  EXPECT_THROW(generator.next(), std::logic_error);
}

TEST(TokenGenerator, DrawsNoIdThatOnlyPadsTheVocabulary) {
  const auto model = made_language_model(small_language_options());
  model->eval();
  const auto largest = [&](double temperature, int64_t known) {
    models::TokenGenerator generator(*model, {}, {.temperature = temperature}, 3, known);
    generator.read(std::vector<int64_t>{1});
    int64_t token = 0;
    for (int64_t i = 0; i < 60; ++i) token = std::max(token, generator.next());
    return token;
  };
  EXPECT_GE(largest(1.0, 0), 5) << "else this tells nothing";
  EXPECT_LE(largest(1.0, 5), 4);
  EXPECT_LE(largest(0.0, 5), 4);
}

TEST(TransformerXL, NamesWhatItRefuses) {
  const auto refuses = [](const char* why, const auto& change) {
    TransformerXLOptions o = small_language_options();
    change(o);
    expect_refused([&] { TransformerXL model(o); }, why);
  };
  refuses("target_length must be at least 1", [](auto& o) { o.target_length = 0; });
  refuses("depth must be at least 1", [](auto& o) { o.depth = 0; });
  refuses("mlp_dim must be at least 1", [](auto& o) { o.mlp_dim = 0; });
  refuses("transformer_xl: dropout", [](auto& o) { o.dropout = 1; });
  refuses("memory tokens must be at least 0", [](auto& o) { o.memory_tokens.count = -1; });
  refuses("choose kind = softmax", [](auto& o) { o.plug_ins.attention.function = nn::EluOptions{}; });

  TransformerXL model(small_language_options());
  expect_refused([&] { model.make_session(0, {}); }, "at least one batch row");
  expect_refused([&] { model.make_session(1, {.memory_length = -1}); }, "must be at least 0");
  expect_refused([&] { model.make_session(1, {.same_length = true}); }, "so memory_length must be above 0");
  LanguageSession session = model.make_session(2, {});
  expect_refused([&] { model.read(drawn_ids(3, 5), session); },
                 "ids must have as many batch rows as the session (2), got 3");
  expect_refused([&] { model.read(drawn_ids(2, 0), session); }, "with L of at least 1");
  expect_refused([&] { model.negative_log_likelihood(drawn_ids(2, 5), drawn_ids(2, 4), session); },
                 "targets must have the shape of ids");
  TransformerXLOptions cached = small_language_options();
  cached.plug_ins.cache = nn::GatedRecurrentCacheOptions{};
  const TransformerXL with_cache(cached);
  expect_refused([&] { with_cache.make_session(1, cached.segments); }, "a cache replaces the memory");
}

TEST(TransformerXLRecipe, SaysWhatDoesNotGoTogether) {
  const auto problems = [](const std::string& keys) {
    auto document = config::Document::from_text("[model]\nname = \"transformer_xl_small\"\n" + keys, "r.toml");
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
  EXPECT_EQ(problems("memory_tokens = 4\nmemory_tokens_recurrent = true\nsame_length = true\n"), "");
  EXPECT_EQ(problems("vocabulary = 5000\n"), "") << "clusters beyond the vocabulary are left out";
  says("cutoffs = [40000]\n",
       "must be in ascending order, above 0 and below the size of the vocabulary, 33278 tokens (model.vocabulary, by "
       "default data.vocabulary)");
  says("cutoffs = [10, 10]\n", "must be in ascending order");
  says("division = 1000\n", "leaves the last cluster without channels");
  says("memory_length = 0\nsame_length = true\n", "same_length");
  says("memory_length = 8\ncache = {kind = \"grc\"}\n", "the cache replaces the memory");
  says("memory_tokens_recurrent = true\n", "memory_tokens");
  says("memory_tokens = 2\ncache = {kind = \"grc\"}\n", "cannot be used together with a cache");
  says("attention = {kind = \"elu\"}\n", "must be softmax");
  says("embed_dim = 255\nnum_heads = 5\n", "must be even");
  says("num_heads = 3\n", "must divide embed_dim (256), got 3");
  says("cache = {kind = \"grc\", positional_convolution = true}\n", "needs tokens on a grid");
  says("cache = {kind = \"grc\", pool = 2}\n", "pool: needs tokens on a grid");
}

}  // namespace
}  // namespace cachet
