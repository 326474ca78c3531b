#include "cachet/io/tensors/state_dict.h"

#include <ATen/ops/equal.h>
#include <c10/core/GradMode.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "cachet/config/near_names.h"
#include "cachet/io/error.h"
#include "cachet/io/tensors/exact_conversion.h"

namespace cachet::io {
namespace {

std::string shape_of(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

bool may_convert(at::ScalarType from, at::ScalarType to, LoadPolicy::Conversion conversion) {
  switch (conversion) {
    case LoadPolicy::Conversion::kNone:
      return from == to;
    case LoadPolicy::Conversion::kExact:
      return converts_exactly(from, to);
    case LoadPolicy::Conversion::kAny:
      return true;
  }
  return false;
}

/// Each tensor once, with all its names.
template <class Items>
std::vector<NamedTensor> distinct(const Items& items) {
  std::vector<NamedTensor> all;
  std::unordered_map<const at::TensorImpl*, size_t> indices;
  for (const auto& item : items) {
    if (!item.value().defined()) continue;
    const auto [place, added] = indices.emplace(item.value().unsafeGetTensorImpl(), all.size());
    if (added) all.push_back({{}, item.value()});
    all[place->second].names.push_back(item.key());
  }
  return all;
}

/// A module's state by the first names, the tensors detached.
std::map<std::string, NamedTensor> named_state(const torch::nn::Module& module) {
  std::map<std::string, NamedTensor> state;
  for (auto* list : {distinct_parameters, distinct_buffers}) {
    for (NamedTensor& named : list(module)) {
      named.tensor = named.tensor.detach();
      std::string name = named.name();
      state.emplace(std::move(name), std::move(named));
    }
  }
  return state;
}

bool are_equal(const at::Tensor& left, const at::Tensor& right) {
  if (!left.defined() || !right.defined()) return left.defined() == right.defined();
  return left.scalar_type() == right.scalar_type() && at::equal(left, right);
}

// What is wrong, a line each: the first three of a kind, and how many more there are.
class LoadProblems {
 public:
  void add(const std::string& kind, const std::string& text) {
    if (++counts_[kind] <= kShown) lines_ += "\n  " + kind + ": " + text;
  }
  void add_names(const char* kind, const std::vector<std::string>& names, const std::vector<std::string>& candidates) {
    for (const std::string& name : names) add(kind, name + config::suggestion(name, candidates));
  }
  void throw_if_any() const {
    if (lines_.empty()) return;
    std::string more;
    for (const auto& [kind, count] : counts_)
      if (count > kShown) more += "\n  " + kind + ": and " + std::to_string(count - kShown) + " more";
    throw Error("the tensors do not fit the model:" + lines_ + more);
  }

 private:
  static constexpr int64_t kShown = 3;
  std::map<std::string, int64_t> counts_;
  std::string lines_;
};

}  // namespace

std::vector<NamedTensor> distinct_parameters(const torch::nn::Module& module) {
  return distinct(module.named_parameters());
}

std::vector<NamedTensor> distinct_buffers(const torch::nn::Module& module) { return distinct(module.named_buffers()); }

TensorMap state_dict(const torch::nn::Module& module) {
  TensorMap state;
  for (auto& [name, named] : named_state(module)) state.emplace(name, named.tensor);
  return state;
}

LoadReport load_state_dict(torch::nn::Module& module, const TensorMap& tensors, const LoadPolicy& policy) {
  const std::map<std::string, NamedTensor> state = named_state(module);
  LoadReport report;
  std::set<std::string> known;
  std::vector<std::pair<std::string, at::Tensor>> targets;  // by the name that the file has
  LoadProblems problems;
  for (const auto& [name, named] : state) {
    known.insert(named.names.begin(), named.names.end());
    const auto first = std::ranges::find_if(named.names, [&](const auto& each) { return tensors.contains(each); });
    if (first == named.names.end()) {
      report.missing.push_back(name);
      continue;
    }
    targets.emplace_back(*first, named.tensor);
    for (auto other = first + 1; other != named.names.end(); ++other) {
      const auto found = tensors.find(*other);
      if (found == tensors.end() || are_equal(found->second, tensors.at(*first))) continue;
      problems.add("different", *first + " and " + *other +
                                    " are the same tensor in the model, but two different tensors in the file");
    }
  }
  for (const auto& [name, tensor] : tensors) {
    if (!known.contains(name)) report.unexpected.push_back(name);
  }
  if (!policy.allow_missing) problems.add_names("missing", report.missing, report.unexpected);
  if (!policy.allow_unexpected) problems.add_names("unexpected", report.unexpected, report.missing);
  for (const auto& [name, target] : targets) {
    const at::Tensor& source = tensors.at(name);
    if (!source.defined()) {
      problems.add("undefined", name);
      continue;
    }
    const std::string types =
        std::string(c10::toString(source.scalar_type())) + " -> " + c10::toString(target.scalar_type());
    if (source.sizes() != target.sizes()) {
      problems.add("wrong shape",
                   name + " is " + shape_of(source) + " in the file, but " + shape_of(target) + " in the model");
    }
    if (!may_convert(source.scalar_type(), target.scalar_type(), policy.conversion)) {
      problems.add("wrong type",
                   name + " would be converted " + types +
                       (policy.conversion == LoadPolicy::Conversion::kExact ? ", which can change values" : ""));
    }
    report.loaded.push_back(name);
    if (source.scalar_type() != target.scalar_type()) report.converted.push_back(name + ": " + types);
  }
  problems.throw_if_any();
  c10::NoGradGuard no_grad;
  for (auto& [name, target] : targets) target.copy_(tensors.at(name));
  return report;
}

}  // namespace cachet::io
