#include "cachet/io/tensors/names/name_map.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "cachet/io/error.h"
#include "cachet/io/tensors/names/name_map_run.h"
#include "cachet/io/tensors/names/name_pattern.h"

namespace cachet::io {
namespace {

[[noreturn]] void refuse_rule(const std::string& from, const std::string& why) {
  throw std::invalid_argument("name map: rule for " + in_quotes(from) + ": " + why);
}

void check_wildcards(const std::string& from, const std::string& to) {
  if (NamePattern(from).wildcards() != NamePattern(to).wildcards()) {
    refuse_rule(from, in_quotes(to) + " must have the same wildcards");
  }
}

void check_parts(const std::string& whole, const std::vector<std::string>& names, const std::vector<int64_t>& parts) {
  if (names.empty() || names.size() != parts.size())
    refuse_rule(whole, "the number of parts must be the number of names");
  if (std::any_of(parts.begin(), parts.end(), [](int64_t part) { return part <= 0; })) {
    refuse_rule(whole, "parts must be at least 1");
  }
  for (const std::string& name : names) check_wildcards(whole, name);
}

struct RuleCheck {
  void operator()(const Rename& rule) const {
    check_wildcards(rule.from, rule.to);
    const std::vector<std::string> wildcards = NamePattern(rule.from).wildcards();
    if (rule.add != 0 && std::find(wildcards.begin(), wildcards.end(), "#") == wildcards.end()) {
      refuse_rule(rule.from, "the rule adds to a number, but the name has no wildcard #");
    }
  }
  void operator()(const Join& rule) const { check_parts(rule.to, rule.from, rule.parts); }
  void operator()(const Split& rule) const { check_parts(rule.from, rule.to, rule.parts); }
  void operator()(const Reshape& rule) const { check_wildcards(rule.from, rule.to); }
  void operator()(const Permute& rule) const {
    check_wildcards(rule.from, rule.to);
    std::vector<int64_t> sorted = rule.order;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (sorted[i] != static_cast<int64_t>(i)) refuse_rule(rule.from, "order must be a permutation of the dimensions");
    }
  }
  void operator()(const Drop&) const {}
};

struct RuleInverse {
  std::vector<NameRule>& rules;

  void operator()(const Rename& rule) const { rules.push_back(Rename{rule.to, rule.from, -rule.add}); }
  void operator()(const Join& rule) const { rules.push_back(Split{rule.to, rule.from, rule.parts, rule.dim}); }
  void operator()(const Split& rule) const { rules.push_back(Join{rule.to, rule.from, rule.parts, rule.dim}); }
  void operator()(const Reshape& rule) const { rules.push_back(Reshape{rule.to, rule.from, rule.back, rule.shape}); }
  void operator()(const Permute& rule) const {
    std::vector<int64_t> order(rule.order.size());
    for (size_t i = 0; i < order.size(); ++i) order[static_cast<size_t>(rule.order[i])] = static_cast<int64_t>(i);
    rules.push_back(Permute{rule.to, rule.from, std::move(order)});
  }
  void operator()(const Drop&) const {}
};

}  // namespace

NameMap::NameMap(std::vector<NameRule> rules) : rules_(std::move(rules)) {
  for (const NameRule& rule : rules_) std::visit(RuleCheck{}, rule);
}

NameMap NameMap::inverted() const {
  std::vector<NameRule> rules;
  for (const NameRule& rule : rules_) std::visit(RuleInverse{rules}, rule);
  return NameMap(std::move(rules));
}

NameMap::Result NameMap::apply(const TensorMap& tensors, Unmatched unmatched) const {
  return NameMapRun(rules_, unmatched).over(tensors);
}

}  // namespace cachet::io
