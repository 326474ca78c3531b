#include "cachet/io/tensors/names/name_map_run.h"

#include <ATen/ops/cat.h>

#include <numeric>
#include <sstream>

#include "cachet/io/error.h"

namespace cachet::io {
namespace {

struct RuleSides {
  std::vector<std::string> from, to;
};

template <class Rule>
RuleSides sides(const Rule& rule) {
  return {{rule.from}, {rule.to}};
}
RuleSides sides(const Join& rule) { return {rule.from, {rule.to}}; }
RuleSides sides(const Split& rule) { return {{rule.from}, rule.to}; }
RuleSides sides(const Drop& rule) { return {{rule.from}, {}}; }

std::string shape_text(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

}  // namespace

NameMapRun::NameMapRun(const std::vector<NameRule>& rules, NameMap::Unmatched unmatched)
    : rules_(rules), unmatched_(unmatched) {
  for (const NameRule& rule : rules) {
    const RuleSides names = std::visit([](const auto& each) { return sides(each); }, rule);
    CompiledRule& compiled = compiled_.emplace_back();
    for (const std::string& name : names.from) compiled.from.emplace_back(name);
    for (const std::string& name : names.to) compiled.to.emplace_back(name);
  }
}

NameMap::Result NameMapRun::over(const TensorMap& tensors) {
  for (const auto& [name, tensor] : tensors) take_any(name, tensor);
  finish_joins();
  return std::move(result_);
}

void NameMapRun::take_any(const std::string& name, const at::Tensor& tensor) {
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (std::visit([&](const auto& rule) { return take(i, rule, name, tensor); }, rules_[i])) return;
  }
  result_.unmatched.push_back(name);
  if (unmatched_ == NameMap::Unmatched::kPass) put(name, name, tensor);
}

void NameMapRun::put(const std::string& from, const std::string& to, at::Tensor tensor) {
  const auto [source, is_new] = sources_.emplace(to, from);
  if (!is_new) {
    throw Error("name map: " + in_quotes(source->second) + " and " + in_quotes(from) + " both become " + in_quotes(to));
  }
  result_.tensors.emplace(to, std::move(tensor));
}

bool NameMapRun::take(size_t index, const Rename& rule, const std::string& name, const at::Tensor& tensor) {
  const NamePattern& from = compiled_[index].from.front();
  auto texts = from.match(name);
  if (!texts || (rule.add != 0 && !shift_number(from, *texts, rule.add))) return false;
  put(name, compiled_[index].to.front().fill(*texts), tensor);
  return true;
}

bool NameMapRun::take(size_t index, const Join& rule, const std::string& name, const at::Tensor& tensor) {
  for (size_t part = 0; part < rule.from.size(); ++part) {
    const auto texts = compiled_[index].from[part].match(name);
    if (!texts) continue;
    std::vector<Part>& parts = joins_[{index, *texts}];
    parts.resize(rule.from.size());
    parts[part] = {name, tensor};
    return true;
  }
  return false;
}

bool NameMapRun::take(size_t index, const Split& rule, const std::string& name, const at::Tensor& tensor) {
  const auto texts = compiled_[index].from.front().match(name);
  if (!texts) return false;
  const int64_t whole = std::accumulate(rule.parts.begin(), rule.parts.end(), int64_t{0});
  if (rule.dim >= tensor.dim() || tensor.size(rule.dim) % whole != 0) {
    throw Error("name map: " + in_quotes(name) + " of shape " + shape_text(tensor) + " cannot be split into " +
                std::to_string(whole) + " equal parts along dimension " + std::to_string(rule.dim));
  }
  const int64_t unit = tensor.size(rule.dim) / whole;
  int64_t start = 0;
  for (size_t part = 0; part < rule.parts.size(); ++part) {
    const int64_t size = rule.parts[part] * unit;
    put(name, compiled_[index].to[part].fill(*texts), tensor.narrow(rule.dim, start, size));
    start += size;
  }
  return true;
}

bool NameMapRun::take(size_t index, const Reshape& rule, const std::string& name, const at::Tensor& tensor) {
  const auto texts = compiled_[index].from.front().match(name);
  if (!texts) return false;
  const std::string to = compiled_[index].to.front().fill(*texts);
  try {
    put(name, to, tensor.reshape(rule.shape));
  } catch (const c10::Error&) {
    std::ostringstream shape;
    shape << at::IntArrayRef(rule.shape);
    throw Error("name map: " + in_quotes(name) + " of shape " + shape_text(tensor) + " does not fit " + shape.str());
  }
  return true;
}

bool NameMapRun::take(size_t index, const Permute& rule, const std::string& name, const at::Tensor& tensor) {
  const auto texts = compiled_[index].from.front().match(name);
  if (!texts) return false;
  if (tensor.dim() != static_cast<int64_t>(rule.order.size())) {
    throw Error("name map: " + in_quotes(name) + " of shape " + shape_text(tensor) + " must have " +
                std::to_string(rule.order.size()) + " dimensions");
  }
  put(name, compiled_[index].to.front().fill(*texts), tensor.permute(rule.order));
  return true;
}

bool NameMapRun::take(size_t index, const Drop&, const std::string& name, const at::Tensor&) {
  return compiled_[index].from.front().match(name).has_value();
}

void NameMapRun::finish_joins() {
  for (const auto& [key, parts] : joins_) {
    const auto& [index, texts] = key;
    const Join& rule = std::get<Join>(rules_[index]);
    const std::string to = compiled_[index].to.front().fill(texts);
    for (size_t part = 0; part < parts.size(); ++part) {
      if (parts[part].tensor.defined()) continue;
      throw Error("name map: " + in_quotes(to) + " cannot be joined, because one of its parts is missing: " +
                  in_quotes(compiled_[index].from[part].fill(texts)));
    }
    put(parts.front().name, to, joined(rule, parts, to));
  }
}

at::Tensor NameMapRun::joined(const Join& rule, const std::vector<Part>& parts, const std::string& to) const {
  std::vector<at::Tensor> tensors;
  const at::Tensor& first = parts.front().tensor;
  for (size_t i = 0; i < parts.size(); ++i) {
    const at::Tensor& tensor = parts[i].tensor;
    bool fits = rule.dim < tensor.dim() && tensor.dim() == first.dim() && tensor.scalar_type() == first.scalar_type();
    for (int64_t dim = 0; fits && dim < tensor.dim(); ++dim) {
      fits = dim == rule.dim ? tensor.size(dim) * rule.parts[0] == first.size(dim) * rule.parts[i]
                             : tensor.size(dim) == first.size(dim);
    }
    if (!fits) {
      throw Error("name map: " + in_quotes(parts[i].name) + " of shape " + shape_text(tensor) + " cannot join " +
                  in_quotes(parts.front().name) + " of shape " + shape_text(first) + " in " + in_quotes(to));
    }
    tensors.push_back(tensor);
  }
  return at::cat(tensors, rule.dim);
}

}  // namespace cachet::io
