#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/nn/attention/attention_options.h"

namespace cachet::test {

struct NamedFunction {
  std::string name;
  nn::AttentionFunctionOptions options;
};

/// Every kind of attention function of the library under the name of a recipe, and special cases: with its defaults, or
/// with blocks and chunks small enough for short sequences to have several.
inline std::vector<NamedFunction> attention_functions() {
  nn::PerformerOptions relu;
  relu.form = nn::RandomFeatures::relu;
  relu.redraw_every = 1;
  const std::map<std::string, nn::AttentionFunctionOptions> small{
      {"bigbird", nn::BigBirdOptions{4, 3, 2}}, {"reformer", nn::LshOptions{4, 8}}, {"local", nn::LocalOptions{3}}};
  std::vector<NamedFunction> all{{"performer, relu", relu},
                                 {"reformer, two rounds", nn::LshOptions{4, 4, 2, nn::LshScore::scaled}}};
  auto nothing_written = config::Document::from_text("", "defaults");
  for (const nn::AttentionFunctionRow* row : nn::attention_function_kinds()) {
    const nn::AttentionFunctionOptions defaults = row->read(nothing_written.root());
    if (std::holds_alternative<nn::ChosenAttentionFunction>(defaults)) continue;  // a test's own
    const auto fitting = small.find(row->name);
    all.push_back({row->name, fitting != small.end() ? fitting->second : defaults});
  }
  return all;
}

}  // namespace cachet::test
