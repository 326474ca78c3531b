#include "cachet/tasks/exports/padded_answers.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/randint.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace cachet::tasks {
namespace {

constexpr int64_t kSequences = 4;    // of a length
constexpr int64_t kLengths = 8;      // from one token to nearly all
constexpr double kRoundings = 1e-4;  // of the largest score: what an export in float32 may differ by

models::Sequences padded(const models::Sequences& sequences, int64_t length) {
  const int64_t tokens = sequences.ids.size(1);
  return {at::constant_pad_nd(sequences.ids, {0, length - tokens}, 0),
          (at::arange(length) >= tokens).expand({sequences.ids.size(0), length}).contiguous()};
}

}  // namespace

void require_no_effect_of_padding(models::SequenceClassifier& model) {
  const at::NoGradGuard no_grad;
  const models::SequenceShape shape = model.sequence_shape();
  for (int64_t part = 0; part < kLengths; ++part) {
    const int64_t length = 1 + part * (shape.max_length - 1) / kLengths;
    const auto drawn = [&] {
      return models::Sequences{at::randint(shape.vocabulary, {kSequences, length}, at::kLong), {}};
    };
    const models::Sequences first = drawn(), second = shape.pairs ? drawn() : models::Sequences{};
    const at::Tensor alone = model.forward(first, second);
    const at::Tensor with_padding =
        model.forward(padded(first, shape.max_length), shape.pairs ? padded(second, shape.max_length) : second);
    const double largest = std::max(alone.abs().max().item<double>(), 1e-30);
    if ((with_padding - alone).abs().max().item<double>() > kRoundings * largest)
      throw std::runtime_error(
          "the model's prediction for a sequence of " + std::to_string(length) +
          " tokens changes if padding follows, but an export for this engine pads each sequence to " +
          std::to_string(shape.max_length) +
          " tokens; use --engine torch, or the setting that new runs have: --set model.attention.pattern_length=model");
  }
}

}  // namespace cachet::tasks
