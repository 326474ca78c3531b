#include "cachet/io/state_dict.h"

#include <c10/core/GradMode.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <sstream>

#include "cachet/config/near_names.h"
#include "cachet/io/error.h"
#include "cachet/io/exact_conversion.h"

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

std::vector<std::string> names_missing_from(const TensorMap& other, const TensorMap& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) {
    if (!other.contains(name)) names.push_back(name);
  }
  return names;
}

// What is wrong, a line each.
class LoadProblems {
 public:
  void add(const std::string& line) { lines_ += "\n  " + line; }
  void add_names(const char* what, const std::vector<std::string>& names, const std::vector<std::string>& candidates) {
    for (const std::string& name : names) add(what + name + config::suggestion(name, candidates));
  }
  void throw_if_any() const {
    if (!lines_.empty()) throw Error("the tensors do not fit the model:" + lines_);
  }

 private:
  std::string lines_;
};

}  // namespace

TensorMap state_dict(const torch::nn::Module& module) {
  TensorMap state;
  for (const auto& item : module.named_parameters()) {
    if (item.value().defined()) state.emplace(item.key(), item.value().detach());
  }
  for (const auto& item : module.named_buffers()) {
    if (item.value().defined()) state.emplace(item.key(), item.value().detach());
  }
  return state;
}

LoadReport load_state_dict(torch::nn::Module& module, const TensorMap& tensors, const LoadPolicy& policy) {
  const TensorMap state = state_dict(module);
  LoadReport report;
  report.missing = names_missing_from(tensors, state);
  report.unexpected = names_missing_from(state, tensors);
  LoadProblems problems;
  if (!policy.allow_missing) problems.add_names("missing: ", report.missing, report.unexpected);
  if (!policy.allow_unexpected) problems.add_names("unexpected: ", report.unexpected, report.missing);
  for (const auto& [name, target] : state) {
    const auto found = tensors.find(name);
    if (found == tensors.end()) continue;
    const at::Tensor& source = found->second;
    if (!source.defined()) {
      problems.add("undefined: " + name);
      continue;
    }
    const std::string types =
        std::string(c10::toString(source.scalar_type())) + " -> " + c10::toString(target.scalar_type());
    if (source.sizes() != target.sizes()) {
      problems.add("wrong shape: " + name + " is " + shape_of(source) + ", the model has " + shape_of(target));
    }
    if (!may_convert(source.scalar_type(), target.scalar_type(), policy.conversion)) {
      problems.add("wrong type: " + name + " would be converted " + types +
                   (policy.conversion == LoadPolicy::Conversion::kExact ? ", which can change values" : ""));
    }
    report.loaded.push_back(name);
    if (source.scalar_type() != target.scalar_type()) report.converted.push_back(name + ": " + types);
  }
  problems.throw_if_any();
  c10::NoGradGuard no_grad;
  for (const std::string& name : report.loaded) state.at(name).copy_(tensors.at(name));
  return report;
}

}  // namespace cachet::io
