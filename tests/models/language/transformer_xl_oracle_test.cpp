#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "cachet/io/tensors/names/published_names.h"
#include "cachet/models/language/transformer_xl.h"
#include "tests/support/model_oracle.h"

namespace cachet {
namespace {

using models::LanguageSession;
using models::SegmentOptions;
using models::TransformerXL;
using models::TransformerXLOptions;
using test::Comparison;
using test::ModelUnderTest;
using test::Oracle;

TransformerXLOptions transformer_xl_options_of(const Oracle& oracle) {
  // The arguments of the published code, at its defaults where the fixture does not have them.
  const nlohmann::json& given = oracle.metadata.at("arguments");
  TransformerXLOptions o;
  o.vocabulary = {.tokens = given.at("n_token"), .dim = given.at("d_model")};
  o.vocabulary.embedding_dim = given.value("d_embed", o.vocabulary.dim);
  o.vocabulary.cutoffs = given.at("cutoffs").get<std::vector<int64_t>>();
  o.vocabulary.division = given.value("div_val", int64_t{1});
  o.ties.tables = given.value("tie_weight", true);
  if (given.contains("tie_projs")) {
    const auto tied = given.at("tie_projs").get<std::vector<bool>>();
    // The first cluster's projection is the output's own in both; the others have one rule.
    EXPECT_FALSE(tied.at(0));
    EXPECT_EQ(std::count(tied.begin() + 1, tied.end(), tied.at(1)), std::ssize(tied) - 1);
    o.ties.projections = tied.at(1);
  }
  EXPECT_EQ(given.value("ext_len", 0), 0) << "the model has no extended context";
  o.target_length = given.at("tgt_len");
  o.segments = {.memory_length = given.value("mem_len", int64_t{0}),
                .clamp_length = std::max<int64_t>(0, given.value("clamp_len", int64_t{-1})),
                .same_length = given.value("same_length", false)};
  o.norm_place = given.value("pre_lnorm", false) ? nn::NormPlace::before : nn::NormPlace::after;
  o.plug_ins.norm = nn::LayerNormOptions{oracle.real("norm_eps")};
  o.depth = given.at("n_layer");
  o.num_heads = given.at("n_head");
  o.mlp_dim = given.at("d_inner");
  o.plug_ins.attention.head_dim = given.value("d_head", int64_t{0});
  o.dropout = 0;
  return o;
}

// The fixtures' tensors are (length, batch rows, …).
at::Tensor by_batch_row(const at::Tensor& x) { return x.transpose(0, 1).contiguous(); }

void expect_gradients_of(const ModelUnderTest& test, const Oracle& oracle, int64_t step, Comparison& compare) {
  io::TensorMap theirs;
  for (const auto& [name, tensor] : oracle.below("step" + std::to_string(step) + ".grad."))
    theirs.emplace(name, tensor);
  const io::TensorMap expected = test::to_our_names(test, theirs);
  for (const auto& parameter : io::distinct_parameters(*test.model)) {
    const auto found = expected.find(parameter.name());
    ASSERT_NE(found, expected.end()) << parameter.name();
    compare.close(parameter.tensor.grad(), found->second, "grad." + parameter.name());
  }
}

TEST(TransformerXLOracle, SegmentsMemoriesAndGradientsAreReproduced) {
  const Oracle oracle = test::load_oracle("model_transformer_xl");
  Comparison compare(oracle.name);
  const auto model = std::make_shared<TransformerXL>(transformer_xl_options_of(oracle));
  ModelUnderTest test;
  test.model = model;
  test.names = {io::published_transformer_xl()};
  test::load_model(test, oracle);
  const auto steps = static_cast<int64_t>(oracle.metadata.at("lengths").size()),
             trained = oracle.integer("train_steps");
  const int64_t batch = oracle.integer("batch");
  // Evaluation with the inputs of earlier segments, and with their keys and values. The fixture evaluates with
  // same_length, which its metadata do not name.
  const nlohmann::json& evaluation = oracle.metadata.at("eval");
  const SegmentOptions eval{evaluation.at("mem_len"), evaluation.at("clamp_len"),
                            evaluation.value("same_length", true)};
  LanguageSession remembered = model->make_session(batch, model->segments());
  LanguageSession kept;
  for (int64_t step = 0; step < steps; ++step) {
    const std::string label = "step" + std::to_string(step);
    if (step == trained) {
      remembered = model->make_session(batch, eval);
      model->eval();
      kept = model->make_session(batch, eval);
    }
    const at::Tensor ids = by_batch_row(oracle.step(step, "input")),
                     targets = by_batch_row(oracle.step(step, "target"));
    model->zero_grad();
    const at::Tensor nll = model->negative_log_likelihood(ids, targets, remembered);
    compare.close(by_batch_row(nll), oracle.step(step, "nll"), label + ".nll");
    compare.close(by_batch_row(remembered.state->part("block_0").get("memory")), oracle.step(step, "mem0"),
                  label + ".mem0");
    if (step >= trained) {
      compare.close(by_batch_row(model->negative_log_likelihood(ids, targets, kept)), oracle.step(step, "nll"),
                    label + ".nll with kept keys");
      continue;
    }
    nll.mean().backward();
    expect_gradients_of(test, oracle, step, compare);
  }
}

// --- the cache instead of the memory ---------------------------------------------------------------------------------

// The fixture's gates read [tokens, cache], ours [cache, tokens] as the published code for images has them.
std::vector<io::NameMap> cached_names() {
  using namespace io;
  return {NameMap({
              Split{"layers.#.linear_*.weight", {"layers.#.gate_*.tokens", "layers.#.gate_*.cache"}, {1, 1}, 1},
              Rename{"layers.#.linear_*.bias", "layers.#.gate_*.bias"},
          }),
          NameMap({
              Join{{"layers.#.gate_reset.cache", "layers.#.gate_reset.tokens"},
                   "blocks.#.attn.cache.reset_gate.weight",
                   {1, 1},
                   1},
              Join{{"layers.#.gate_update.cache", "layers.#.gate_update.tokens"},
                   "blocks.#.attn.cache.update_gate.weight",
                   {1, 1},
                   1},
              Join{{"layers.#.gate_add.cache", "layers.#.gate_add.tokens"},
                   "blocks.#.attn.cache.candidate.weight",
                   {1, 1},
                   1},
              Rename{"layers.#.gate_reset.bias", "blocks.#.attn.cache.reset_gate.bias"},
              Rename{"layers.#.gate_update.bias", "blocks.#.attn.cache.update_gate.bias"},
              Rename{"layers.#.gate_add.bias", "blocks.#.attn.cache.candidate.bias"},
              Rename{"layers.#.lam", "blocks.#.attn.share"},
              Rename{"layers.#.attn_mem.**", "blocks.#.attn.memory_attention.**"},
          }),
          published_transformer_xl(),
          NameMap({
              Rename{"blocks.#.attn.qkv.*", "blocks.#.attn.self_attention.qkv.*"},
              Rename{"blocks.#.attn.proj.*", "blocks.#.attn.self_attention.proj.*"},
              Rename{"blocks.#.attn.position.*", "blocks.#.attn.self_attention.position.*"},
              Rename{"blocks.#.attn.content_bias", "blocks.#.attn.self_attention.content_bias"},
              Rename{"blocks.#.attn.position_bias", "blocks.#.attn.self_attention.position_bias"},
          })};
}

struct NamedModel {
  std::shared_ptr<TransformerXL> model;
  ModelUnderTest test;
};

NamedModel cached_model(const Oracle& oracle, nn::CacheScope scope, nn::CacheGradient gradient,
                        std::optional<nn::CacheInference> inference = {}) {
  TransformerXLOptions o = transformer_xl_options_of(oracle);
  nn::GatedRecurrentCacheOptions cache;
  cache.ratio = oracle.real("ratio");
  cache.length = oracle.integer("tm");
  cache.scope = scope;
  cache.gradient = gradient;
  cache.inference = inference;
  o.plug_ins.cache = cache;
  NamedModel made{std::make_shared<TransformerXL>(o), {}};
  made.test.model = made.model;
  made.test.names = cached_names();
  test::load_model(made.test, oracle);
  return made;
}

struct Scope {
  std::string name;
  nn::CacheScope scope;
};

const std::vector<Scope>& scopes() {
  static const std::vector<Scope> all{{"batch_mean", nn::CacheScope::batch_mean}, {"lane", nn::CacheScope::batch_row}};
  return all;
}

int64_t depth_of(const Oracle& oracle) { return oracle.metadata.at("arguments").at("n_layer").get<int64_t>(); }

nn::AttentionState& cache_state(LanguageSession& session, int64_t layer) {
  return session.state->part("block_" + std::to_string(layer)).part("attn").part("cache");
}

// The cache of a layer after the last segment, wherever it is stored.
at::Tensor cache_of(const NamedModel& cached, LanguageSession& session, int64_t layer) {
  const at::Tensor held = cache_state(session, layer).get("cache");
  if (held.defined()) return held;
  return cached.model->named_buffers()["blocks." + std::to_string(layer) + ".attn.cache.tokens"];
}

at::Tensor losses_of(const NamedModel& cached, const Oracle& oracle, int64_t step, LanguageSession& session) {
  return cached.model->negative_log_likelihood(by_batch_row(oracle.step(step, "input")),
                                               by_batch_row(oracle.step(step, "target")), session);
}

// The gradients under `prefix` and the norms of all of them, which stand in the order of the fixture's parameters.
void expect_some_gradients(const NamedModel& cached, const Oracle& oracle, const std::string& prefix,
                           const std::vector<at::Tensor>& gradients, Comparison& compare) {
  const auto parameters = io::distinct_parameters(*cached.model);
  io::TensorMap ours;
  for (size_t i = 0; i < parameters.size(); ++i)
    ours.emplace(parameters[i].name(), gradients[i].defined() ? gradients[i] : at::zeros_like(parameters[i].tensor));
  for (auto map = cached.test.names.rbegin(); map != cached.test.names.rend(); ++map)
    ours = map->inverted().apply(ours).tensors;
  for (const auto& [name, expected] : oracle.below(prefix + ".grad.")) {
    ASSERT_TRUE(ours.contains(name)) << name;
    compare.close(ours.at(name), expected, prefix + "." + name);
  }
  std::vector<at::Tensor> norms;
  for (const std::string& name : test::parameter_order(oracle)) {
    ASSERT_TRUE(ours.contains(name)) << name;
    norms.push_back(ours.at(name).norm());
  }
  compare.close(at::stack(norms), oracle[prefix + ".gradnorm"], prefix + ".gradnorm");
}

std::vector<at::Tensor> gradients_of(const NamedModel& cached, const at::Tensor& loss) {
  std::vector<at::Tensor> parameters;
  for (const auto& parameter : io::distinct_parameters(*cached.model)) parameters.push_back(parameter.tensor);
  return torch::autograd::grad({loss}, parameters, {}, /*retain_graph=*/true, /*create_graph=*/false,
                               /*allow_unused=*/true);
}

TEST(CachedTransformerXLOracle, TrainingIsReproducedWithEveryGradient) {
  const Oracle oracle = test::load_oracle("model_grc_lm");
  Comparison compare(oracle.name);
  for (const auto& [scope_name, scope] : scopes())
    for (const auto& [form, gradient] :
         std::vector<std::pair<std::string, nn::CacheGradient>>{{"detached", nn::CacheGradient::detached},
                                                                {"recompute", nn::CacheGradient::recompute},
                                                                {"carry", nn::CacheGradient::carry}}) {
      const NamedModel cached = cached_model(oracle, scope, gradient);
      LanguageSession session = cached.model->make_session(oracle.integer("batch"), cached.model->segments());
      at::Tensor sum;
      for (int64_t step = 0; step < oracle.integer("train_steps"); ++step) {
        const std::string label = scope_name + ".step" + std::to_string(step);
        const at::Tensor nll = losses_of(cached, oracle, step, session), loss = nll.mean();
        compare.close(by_batch_row(nll), oracle[label + ".nll"], label + ".nll");
        for (int64_t layer = 0; layer < depth_of(oracle); ++layer)
          compare.close(cache_of(cached, session, layer), oracle[label + ".cache" + std::to_string(layer)],
                        label + ".cache");
        sum = sum.defined() ? sum + loss : loss;
        expect_some_gradients(cached, oracle, scope_name + "." + form + ".step" + std::to_string(step),
                              gradients_of(cached, loss), compare);
      }
      if (gradient != nn::CacheGradient::carry) continue;
      compare.close(sum.view({1}), oracle[scope_name + ".carry.loss"], scope_name + ".carry.loss");
      expect_some_gradients(cached, oracle, scope_name + ".carry", gradients_of(cached, sum), compare);
    }
}

TEST(CachedTransformerXLOracle, EvaluationIsReproducedUnderEveryPolicy) {
  const Oracle oracle = test::load_oracle("model_grc_lm");
  Comparison compare(oracle.name);
  const auto steps = static_cast<int64_t>(oracle.metadata.at("lengths").size()),
             trained = oracle.integer("train_steps");
  const at::NoGradGuard no_grad;
  for (const auto& [scope_name, scope] : scopes())
    for (const std::string policy : {"frozen", "updated", "fresh"}) {
      const NamedModel cached =
          cached_model(oracle, scope, nn::CacheGradient::detached,
                       policy == "frozen" ? nn::CacheInference::frozen : nn::CacheInference::updated);
      LanguageSession trainer = cached.model->make_session(oracle.integer("batch"), cached.model->segments());
      for (int64_t step = 0; step < trained; ++step) losses_of(cached, oracle, step, trainer);
      std::vector<at::Tensor> left;
      for (int64_t layer = 0; layer < depth_of(oracle); ++layer)
        left.push_back(cache_of(cached, trainer, layer).clone());
      cached.model->eval();
      LanguageSession session = cached.model->make_session(oracle.integer("batch"), cached.model->segments());
      for (int64_t layer = 0; layer < depth_of(oracle); ++layer)
        cache_state(session, layer)
            .set("cache", policy == "fresh" ? at::zeros_like(left[static_cast<size_t>(layer)])
                                            : left[static_cast<size_t>(layer)]);
      const std::string prefix = scope_name + "." + policy + ".eval";
      for (int64_t step = trained; step < steps; ++step) {
        const std::string label = prefix + std::to_string(step);
        compare.close(by_batch_row(losses_of(cached, oracle, step, session)), oracle[label + ".nll"], label + ".nll");
        for (int64_t layer = 0; layer < depth_of(oracle); ++layer)
          if (oracle.has(label + ".cache" + std::to_string(layer)))
            compare.close(cache_of(cached, session, layer), oracle[label + ".cache" + std::to_string(layer)],
                          label + ".cache");
      }
      if (scope == nn::CacheScope::batch_row) continue;
      for (int64_t layer = 0; layer < depth_of(oracle); ++layer)
        EXPECT_TRUE(at::equal(cached.model->named_buffers()["blocks." + std::to_string(layer) + ".attn.cache.tokens"],
                              left[static_cast<size_t>(layer)]))
            << "an evaluation leaves the model's cache as it is, layer " << layer;
    }
}

TEST(CachedTransformerXLOracle, NoTokenSeesItsFuture) {
  const Oracle oracle = test::load_oracle("model_grc_lm");
  Comparison compare(oracle.name);
  const at::NoGradGuard no_grad;
  for (const auto& [scope_name, scope] : scopes()) {
    const NamedModel cached = cached_model(oracle, scope, nn::CacheGradient::detached, nn::CacheInference::frozen);
    LanguageSession session = cached.model->make_session(oracle.integer("batch"), cached.model->segments());
    for (int64_t step = 0; step < oracle.integer("train_steps"); ++step) losses_of(cached, oracle, step, session);
    cached.model->eval();
    const at::Tensor targets = by_batch_row(oracle["noleak.target"]);
    for (const std::string changed : {"", "_changed"})
      compare.close(by_batch_row(cached.model->negative_log_likelihood(by_batch_row(oracle["noleak.input" + changed]),
                                                                       targets, session)),
                    oracle[scope_name + ".noleak.nll" + changed], "noleak" + changed);
  }
}

// --- memory tokens ---------------------------------------------------------------------------------------------------

struct MemoryCase {
  std::string name;
  SegmentOptions training, evaluation;
  bool reads_past;
  int64_t depth;  // earlier segments that a gradient goes through
};

std::vector<MemoryCase> memory_cases(const Oracle& oracle) {
  std::vector<MemoryCase> cases;
  for (const auto& [name, given] : oracle.metadata.at("cases").items())
    cases.push_back({name,
                     {.memory_length = given.at("mem_len")},
                     {.memory_length = given.at("eval_mem_len")},
                     given.at("read_mem_from_cache") == 1,
                     given.value("depth", int64_t{0})});
  return cases;
}

NamedModel memory_model(const Oracle& oracle, const MemoryCase& memory, bool recurrent) {
  TransformerXLOptions o = transformer_xl_options_of(oracle);
  o.segments = memory.training;
  o.memory_tokens = {oracle.metadata.at("arguments").at("num_mem_tokens"), recurrent, memory.reads_past};
  NamedModel made{std::make_shared<TransformerXL>(o), {}};
  made.test.model = made.model;
  made.test.names = {io::published_transformer_xl()};
  test::load_model(made.test, oracle);
  return made;
}

// Losses, the first layer's memory and the memory tokens after a segment.
void expect_segment(const NamedModel& made, const Oracle& oracle, int64_t step, LanguageSession& session,
                    const std::string& label, Comparison& compare) {
  compare.close(by_batch_row(losses_of(made, oracle, step, session)), oracle[label + ".nll"], label + ".nll");
  if (oracle.has(label + ".mem0")) {
    nn::AttentionState& block = session.state->part("block_0");
    if (block.declares("memory"))
      compare.close(by_batch_row(block.get("memory")), oracle[label + ".mem0"], label + ".mem0");
  }
  if (oracle.has(label + ".memory"))
    compare.close(by_batch_row(session.state->get("memory_tokens")), oracle[label + ".memory"], label + ".memory");
}

void expect_evaluations(const NamedModel& made, const Oracle& oracle, const MemoryCase& memory, Comparison& compare) {
  const at::NoGradGuard no_grad;
  const auto steps = static_cast<int64_t>(oracle.metadata.at("lengths").size());
  for (const bool same_length : {false, true}) {
    SegmentOptions how = memory.evaluation;
    how.same_length = same_length;
    if (same_length && how.memory_length == 0) continue;
    for (const bool saved_keys : {false, true}) {
      made.model->train(!saved_keys);  // without dropout it computes the same
      LanguageSession session = made.model->make_session(oracle.integer("batch"), how);
      for (int64_t step = oracle.integer("train_steps"); step < steps; ++step)
        expect_segment(made, oracle, step, session,
                       memory.name + (same_length ? ".eval_same" : ".eval") + std::to_string(step), compare);
    }
  }
  made.model->train();
}

TEST(MemoryTransformerOracle, SegmentsGradientsAndEvaluationsAreReproduced) {
  const Oracle oracle = test::load_oracle("model_memory_transformer");
  Comparison compare(oracle.name);
  for (const MemoryCase& memory : memory_cases(oracle)) {
    const NamedModel made = memory_model(oracle, memory, /*recurrent=*/false);
    LanguageSession session = made.model->make_session(oracle.integer("batch"), memory.training);
    for (int64_t step = 0; step < oracle.integer("train_steps"); ++step) {
      const std::string label = memory.name + ".step" + std::to_string(step);
      LanguageSession again{session.segments, session.state->clone()};
      expect_segment(made, oracle, step, session, label, compare);
      expect_some_gradients(made, oracle, label, gradients_of(made, losses_of(made, oracle, step, again).mean()),
                            compare);
    }
    expect_evaluations(made, oracle, memory, compare);
  }
}

TEST(RecurrentMemoryTransformerOracle, SegmentsGradientsAndEvaluationsAreReproduced) {
  const Oracle oracle = test::load_oracle("model_rmt");
  Comparison compare(oracle.name);
  for (const MemoryCase& memory : memory_cases(oracle)) {
    const NamedModel made = memory_model(oracle, memory, /*recurrent=*/true);
    LanguageSession session = made.model->make_session(oracle.integer("batch"), memory.training);
    std::vector<std::shared_ptr<nn::AttentionState>> before;
    for (int64_t step = 0; step < oracle.integer("train_steps"); ++step) {
      const std::string label = memory.name + ".step" + std::to_string(step);
      session.state->detach();
      before.push_back(session.state->clone());
      expect_segment(made, oracle, step, session, label, compare);
      // The gradient goes through the segments before.
      const int64_t first = std::max<int64_t>(0, step - memory.depth);
      LanguageSession again{session.segments, before[static_cast<size_t>(first)]->clone()};
      at::Tensor loss;
      for (int64_t i = first; i <= step; ++i) loss = losses_of(made, oracle, i, again).mean();
      expect_some_gradients(made, oracle, label, gradients_of(made, loss), compare);
    }
    LanguageSession whole = made.model->make_session(oracle.integer("batch"), memory.training);
    at::Tensor sum = at::zeros({}, at::kDouble);
    for (int64_t step = 0; step < oracle.integer("train_steps"); ++step)
      sum = sum + losses_of(made, oracle, step, whole).mean();
    compare.close(sum.view({1}), oracle[memory.name + ".full.loss"], memory.name + ".full.loss");
    expect_some_gradients(made, oracle, memory.name + ".full", gradients_of(made, sum), compare);
    expect_evaluations(made, oracle, memory, compare);
  }
}

}  // namespace
}  // namespace cachet
