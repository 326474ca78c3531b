#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cachet/io/tensors/names/name_map.h"
#include "cachet/io/tensors/names/name_pattern.h"

namespace cachet::io {

/// One application of a name map, with its patterns, the result so far, and the joins whose parts are incomplete.
class NameMapRun {
 public:
  NameMapRun(const std::vector<NameRule>& rules, NameMap::Unmatched unmatched);

  NameMap::Result over(const TensorMap& tensors);

  // Each function tries one rule on one tensor, and returns whether the rule accepted the tensor.
  bool take(size_t index, const Rename& rule, const std::string& name, const at::Tensor& tensor);
  bool take(size_t index, const Join& rule, const std::string& name, const at::Tensor& tensor);
  bool take(size_t index, const Split& rule, const std::string& name, const at::Tensor& tensor);
  bool take(size_t index, const Reshape& rule, const std::string& name, const at::Tensor& tensor);
  bool take(size_t index, const Permute& rule, const std::string& name, const at::Tensor& tensor);
  bool take(size_t index, const Drop& rule, const std::string& name, const at::Tensor& tensor);

 private:
  struct CompiledRule {
    std::vector<NamePattern> from, to;
  };
  using Texts = std::vector<std::string>;
  struct Part {
    std::string name;
    at::Tensor tensor;
  };

  void take_any(const std::string& name, const at::Tensor& tensor);
  void put(const std::string& from, const std::string& to, at::Tensor tensor);
  void finish_joins();
  at::Tensor joined(const Join& rule, const std::vector<Part>& parts, const std::string& to) const;

  const std::vector<NameRule>& rules_;
  NameMap::Unmatched unmatched_;
  std::vector<CompiledRule> compiled_;
  std::map<std::pair<size_t, Texts>, std::vector<Part>> joins_;  // parts of joins, by rule and texts of the wildcards
  std::map<std::string, std::string> sources_;                   // name of the source, by name of the result
  NameMap::Result result_;
};

}  // namespace cachet::io
