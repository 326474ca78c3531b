// What language models cost, as ratios of calls taken in turns. Prints CSV: language [--quick].
// language --serve NAME=VALUE…: one training step of the model for each line that comes in, for
// benchmarks/language_models.py; prints the milliseconds without the optimizer's part, and with it. The first value is
// the precision, fp32 or bf16; the others are keys of the model's table.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/nn/modules/adaptive.h>

#include <cstring>
#include <iostream>

#include "benchmarks/added_products.h"
#include "benchmarks/backward_step.h"
#include "benchmarks/csv_rows.h"
#include "benchmarks/pairs.h"
#include "benchmarks/timed_training.h"
#include "cachet/config/document.h"
#include "cachet/models/language/causal_transformer.h"
#include "cachet/models/registry.h"
#include "cachet/nn/layers/adaptive_softmax.h"

namespace cachet::benchmarks {
namespace {

using at::Tensor;
using models::LanguageModel;
using models::LanguageSession;

constexpr int kThreads = 2;

std::shared_ptr<LanguageModel> made(const std::vector<std::string>& settings) {
  config::Document document;
  for (const std::string& setting : settings) document.set("model." + setting);
  const auto plan = models::read_language_model(document.root().table("model"));
  document.finish();
  return plan.build();
}

/// Words as they come: the n-th has a frequency of 1/n.
Tensor drawn_words(int64_t vocabulary, at::IntArrayRef sizes) {
  const Tensor rank = at::exp(at::rand(sizes) * std::log(static_cast<double>(vocabulary))).floor();
  return (rank - 1).to(at::kLong).clamp(0, vocabulary - 1);
}

Tensor tokens_of(const LanguageModel& model, int64_t batch_rows, int64_t length) {
  return drawn_words(model.language_shape().vocabulary, {batch_rows, length});
}

/// A model that is trained on synthetic text, whose memory is full.
class Training {
 public:
  Training(const std::vector<std::string>& settings, int64_t batch_rows, train::Precision precision)
      : model_(made(settings)),
        session_(model_->make_session(batch_rows, model_->segments())),
        timed_(model_, precision),
        batch_rows_(batch_rows) {
    for (int i = 0; i < 4; ++i) forward_backward();
  }

  double forward_backward() {
    const double passes = timed_.forward_backward([&] { return loss(); });
    session_.state->detach();
    return passes;
  }
  void print_step() {
    timed_.print_step([&] { return loss(); });
    session_.state->detach();
  }

 private:
  at::Tensor loss() {
    const int64_t length = model_->language_shape().target_length;
    const Tensor ids = tokens_of(*model_, batch_rows_, length), targets = tokens_of(*model_, batch_rows_, length);
    return model_->negative_log_likelihood(ids, targets, session_).mean();
  }

  std::shared_ptr<LanguageModel> model_;
  LanguageSession session_;
  TimedTraining timed_;
  int64_t batch_rows_;
};

void serve(const std::string& precision, const std::vector<std::string>& settings, int64_t batch_rows) {
  Training training(settings, batch_rows, precision == "bf16" ? train::Precision::bfloat16 : train::Precision::float32);
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) training.print_step();
}

// Two quantities taken in turns: ratio of the second to the first.
void compare(const std::string& what, const std::string& beside, const Call& call, const Call& other, int turns) {
  const auto times = in_turns({call, other}, turns);
  const auto ratio = analysis::ratio_of_pairs(times[1], times[0]);
  print_row({what, beside, std::to_string(kThreads), median(times[0]), median(times[1])}, &ratio);
}

// --- evaluation: a cache instead of a long memory --------------------------------------------------------------------

void evaluation_row(int turns) {
  constexpr int64_t kBatchRows = 10, kTarget = 64, kMemory = 640;
  const auto evaluated = [](const std::vector<std::string>& settings, const models::SegmentOptions& segments) {
    const auto model = made(settings);
    model->eval();
    auto session = std::make_shared<LanguageSession>(model->make_session(kBatchRows, segments));
    for (int64_t past = 0; past < kMemory; past += kTarget)
      model->read(tokens_of(*model, kBatchRows, kTarget), *session);
    return Call([=] {
      const Tensor ids = tokens_of(*model, kBatchRows, kTarget);
      model->negative_log_likelihood(ids, ids, *session);
    });
  };
  const at::NoGradGuard no_grad;
  for (const char* name : {"transformer_xl_small", "transformer_xl_wt103_base"}) {
    const std::string model = std::string("name=") + name;
    const auto cached =
        evaluated({model, "cache.kind=grc", "cache.length=64", "cache.inference=updated",
                   std::string(name) == "transformer_xl_small" ? "cache.ratio=0.5" : "cache.ratio=0.488"},
                  {});
    compare(std::string("evaluation, causal GRC, target 64, ") + name, "Transformer-XL, memory 640", cached,
            evaluated({model}, {.memory_length = kMemory}), turns);
  }
}

// --- training: what a causal cache adds, compared with its products alone -----------------------------------

void cache_row(int turns) {
  constexpr int64_t kBatchRows = 16, kTarget = 64, kMemory = 64, kHalf = 128, kHeads = 8, kDepth = 6;
  const std::string model = "name=transformer_xl_small";
  const auto plain = std::make_shared<Training>(std::vector<std::string>{model, "memory_length=0"}, kBatchRows,
                                                train::Precision::float32);
  const auto cached = std::make_shared<Training>(
      std::vector<std::string>{model, "cache.kind=grc", "cache.length=64", "cache.ratio=0.5"}, kBatchRows,
      train::Precision::float32);
  // Of each layer: the update that the last step stored, made again with its gradients, the memory attention that reads
  // it, and the update that this step stores.
  const AddedProducts layer({kBatchRows, kTarget, kMemory, kHalf, kHeads}, at::kFloat, /*training=*/true,
                            CacheRead::mean);
  const Call alone = [&] {
    for (int64_t i = 0; i < kDepth; ++i) {
      benchmarks::step(layer.forward(), layer.operands());
      const at::NoGradGuard stored;
      layer.update();
    }
  };
  const auto times = in_turns({[&] { plain->forward_backward(); }, [&] { cached->forward_backward(); }, alone}, turns);
  std::vector<double> added;
  for (size_t i = 0; i < times[0].size(); ++i) added.push_back(times[1][i] - times[0][i]);
  const auto ratio = analysis::ratio_of_pairs(added, times[2]);
  print_row({"training, time added by a causal cache (recompute)", "the cache's products alone",
             std::to_string(kThreads), median(added), median(times[2])},
            &ratio);
}

// --- generation: a state of fixed size -------------------------------------------------------------------------------

void generation_row(int turns) {
  const auto model = made({"name=causal_transformer_small", "whole_past=true", "attention.kind=kernel",
                           "attention.form=glu", "attention.layers=2"});
  model->eval();
  const at::NoGradGuard no_grad;
  const auto behind = [&](int64_t past) {
    auto session = std::make_shared<LanguageSession>(model->make_session(1, model->segments()));
    for (int64_t read = 0; read < past; read += 256) model->read(tokens_of(*model, 1, 256), *session);
    return Call([&model, session] {
      for (int i = 0; i < 16; ++i) model->next_token(tokens_of(*model, 1, 1), *session);
    });
  };
  compare("generation with 2×GLU, 16 tokens after 256 tokens", "16 tokens after 16,384 tokens", behind(256),
          behind(16384), turns);
}

// --- adaptive softmax compared with LibTorch's --------------------------------------------------------------

void softmax_row(int64_t vocabulary, const std::vector<int64_t>& cutoffs, int64_t division, int turns) {
  constexpr int64_t kTokens = 600, kDim = 410;
  const nn::AdaptiveVocabulary own{.tokens = vocabulary, .dim = kDim, .cutoffs = cutoffs, .division = division};
  const auto ours = std::make_shared<nn::AdaptiveSoftmax>(own, nn::AdaptiveTies{false, false}, nullptr);
  torch::nn::AdaptiveLogSoftmaxWithLoss theirs(
      torch::nn::AdaptiveLogSoftmaxWithLossOptions(kDim, vocabulary, cutoffs).div_value(static_cast<double>(division)));
  const Tensor hidden = at::randn({kTokens, kDim}).requires_grad_();
  const Tensor target = drawn_words(vocabulary, {kTokens});
  const auto pass = [&](const Tensor& loss, const std::vector<Tensor>& parameters) {
    Tensors inputs = parameters;
    inputs.push_back(hidden);
    step({loss}, inputs);
  };
  compare(
      "adaptive softmax, " + std::to_string(vocabulary) + " words, division " + std::to_string(division),
      "AdaptiveLogSoftmaxWithLoss",
      [&] { pass(ours->negative_log_likelihood(hidden, target).mean(), ours->parameters()); },
      [&] { pass(-theirs->forward(hidden, target).output.mean(), theirs->parameters()); }, turns);
}

int run(const std::vector<std::string>& words) {
  at::set_num_threads(kThreads);
  if (!words.empty() && words[0] == "--serve" && words.size() >= 3) {
    serve(words[1], {words.begin() + 2, words.end()}, /*lanes=*/4);
    return 0;
  }
  const int turns = !words.empty() && words[0] == "--quick" ? 3 : 15;
  print_row({"what", "beside", "threads", "ms", "beside_ms", "ratio", "lower", "upper"});
  evaluation_row(turns);
  cache_row(turns);
  generation_row(turns);
  for (const int64_t division : {1, 4}) {
    softmax_row(33278, {4000, 12000}, division, turns);
    softmax_row(267735, {20000, 40000, 200000}, division, turns);
  }
  return 0;
}

}  // namespace
}  // namespace cachet::benchmarks

int main(int count, char** words) { return cachet::benchmarks::run({words + 1, words + count}); }
