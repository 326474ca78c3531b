#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "cachet/io/tensors/names/name_map.h"
#include "cachet/io/tensors/state_dict.h"
#include "tests/support/oracle.h"

namespace cachet::test {

/// A whole model compared with its fixture: what the published names become, and what it computes.
struct ModelUnderTest {
  std::shared_ptr<torch::nn::Module> model;
  std::vector<io::NameMap> names;  // applied one after the other
  /// Adds what the published code does not record and the maps ask for.
  std::function<void(io::TensorMap& published)> complete;
  /// images -> the fixture's outputs: y, or y0, y1, … of a pyramid.
  std::function<std::vector<at::Tensor>(const at::Tensor& images)> outputs;
  /// What else evaluation records, by the fixture's name.
  std::function<std::map<std::string, at::Tensor>(const at::Tensor& images)> features;
};

inline io::TensorMap to_our_names(const ModelUnderTest& test, io::TensorMap tensors) {
  if (test.complete) test.complete(tensors);
  for (const io::NameMap& map : test.names) tensors = map.apply(tensors).tensors;
  return tensors;
}

/// The metadata's list of names under either of its two keys.
inline std::vector<std::string> parameter_order(const Oracle& oracle) {
  return oracle.metadata.at(oracle.metadata.contains("parameters") ? "parameters" : "params")
      .get<std::vector<std::string>>();
}

/// Loads the start values; every name of the fixture must be used. Buffers start as they are.
inline void load_model(const ModelUnderTest& test, const Oracle& oracle) {
  test.model->to(at::kDouble);
  io::LoadPolicy policy;
  policy.allow_missing = true;
  const auto report = io::load_state_dict(*test.model, to_our_names(test, oracle.below("param.")), policy);
  const std::set<std::string> missing(report.missing.begin(), report.missing.end());
  for (const auto& item : test.model->named_parameters())
    EXPECT_FALSE(missing.count(item.key())) << oracle.name << " lacks the parameter " << item.key();
}

/// The fixture's names of the model's parameters, in the fixture's order, as tensors of the model.
inline std::vector<at::Tensor> in_published_order(const ModelUnderTest& test, const Oracle& oracle,
                                                  const std::function<at::Tensor(const at::Tensor&)>& of) {
  io::TensorMap ours;
  for (const auto& item : test.model->named_parameters()) ours.emplace(item.key(), of(item.value()));
  io::TensorMap theirs = ours;
  for (auto map = test.names.rbegin(); map != test.names.rend(); ++map) theirs = map->inverted().apply(theirs).tensors;
  std::vector<at::Tensor> ordered;
  for (const std::string& name : parameter_order(oracle)) {
    EXPECT_TRUE(theirs.count(name)) << oracle.name << ": no parameter of ours becomes " << name;
    if (theirs.count(name)) ordered.push_back(theirs.at(name));
  }
  EXPECT_EQ(theirs.size(), ordered.size()) << oracle.name << ": parameters that the fixture does not have";
  return ordered;
}

inline at::Tensor gradient_of(const at::Tensor& parameter) {
  return parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter);
}

/// Outputs, gradients and features of all steps and evaluations, in float64. `after_step` looks at the model's state.
inline void expect_model_reproduced(const ModelUnderTest& test, const Oracle& oracle,
                                    const std::function<void(int64_t step, Comparison&)>& after_step = {}) {
  Comparison compare(oracle.name);
  load_model(test, oracle);
  const auto compare_outputs = [&](const std::vector<at::Tensor>& outputs, const std::string& at) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string key = at + "y" + (outputs.size() > 1 ? std::to_string(i) : "");
      compare.close(outputs[i], oracle[key], key);
    }
  };
  const int64_t training = oracle.metadata.value("train_steps", int64_t{1} << 30);
  for (int64_t i = 0; oracle.has_step(i, "x"); ++i) {
    const std::string step = "step" + std::to_string(i) + ".";
    test.model->train(i < training);
    test.model->zero_grad();
    const at::Tensor x = oracle.step(i, "x").requires_grad_();
    const auto outputs = test.outputs(x);
    at::Tensor loss;
    for (size_t j = 0; j < outputs.size(); ++j) {
      const at::Tensor part = (outputs[j] * oracle.step(i, "dy" + (outputs.size() > 1 ? std::to_string(j) : ""))).sum();
      loss = loss.defined() ? loss + part : part;
    }
    loss.backward();
    compare_outputs(outputs, step);
    if (oracle.has_step(i, "dx")) compare.close(x.grad(), oracle.step(i, "dx"), step + "dx");
    const io::TensorMap expected = to_our_names(test, oracle.below(step + "grad."));
    const auto parameters = test.model->named_parameters();
    for (const auto& [name, gradient] : expected)
      compare.close(gradient_of(parameters[name]), gradient, step + "grad." + name);
    std::vector<at::Tensor> norms;
    for (const at::Tensor& gradient : in_published_order(test, oracle, gradient_of)) norms.push_back(gradient.norm());
    compare.close(at::stack(norms), oracle.step(i, "gradnorm"), step + "gradnorm");
    if (after_step) after_step(i, compare);
  }
  test.model->eval();
  const at::NoGradGuard no_grad;
  for (int64_t i = 0; oracle.has("eval" + std::to_string(i) + ".x"); ++i) {
    const std::string eval = "eval" + std::to_string(i) + ".";
    const at::Tensor x = oracle[eval + "x"];
    compare_outputs(test.outputs(x), eval);
    if (!test.features) continue;
    for (const auto& [name, feature] : test.features(x)) compare.close(feature, oracle[eval + "feature." + name], name);
  }
}

}  // namespace cachet::test
