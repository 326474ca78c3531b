#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cachet/nn/attention/attention_options.h"

namespace cachet::test {

struct NamedFunction {
  std::string name;
  nn::AttentionFunctionOptions options;
};

/// One of every kind of attention function, blocks and chunks small enough for short sequences to have several.
inline std::vector<NamedFunction> attention_functions() {
  nn::PerformerOptions relu;
  relu.form = nn::RandomFeatures::relu;
  relu.redraw_every = 1;
  nn::LshOptions rounds{4, 4, 2, nn::LshScore::scaled};
  return {
      {"softmax", nn::SoftmaxOptions{}},     {"elu", nn::EluOptions{}},        {"kernel", nn::KernelOptions{}},
      {"performer", nn::PerformerOptions{}}, {"performer, relu", relu},        {"bigbird", nn::BigBirdOptions{4, 3, 2}},
      {"reformer", nn::LshOptions{4, 8}},    {"reformer, two rounds", rounds}, {"local", nn::LocalOptions{3}}};
}

}  // namespace cachet::test
