#include "cachet/train/optimizer/parameter_groups.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "cachet/config/glob.h"
#include "cachet/io/tensors/state_dict.h"

namespace cachet::train {
namespace {

bool takes_no_decay(const std::string& name, const std::vector<std::string>& patterns) {
  std::string_view rest = name;
  while (true) {
    const size_t dot = rest.find('.');
    const std::string_view component = rest.substr(0, dot);
    const auto matches = [&](const std::string& pattern) { return config::glob_matches(pattern, component); };
    if (std::ranges::any_of(patterns, matches)) return true;
    if (dot == std::string_view::npos) return false;
    rest.remove_prefix(dot + 1);
  }
}

std::string group_size(const std::vector<NamedParameter>& group) {
  int64_t values = 0;
  for (const NamedParameter& parameter : group) values += parameter.tensor.numel();
  return std::to_string(group.size()) + " tensors, " + std::to_string(values) + " values";
}

}  // namespace

std::string ParameterGroups::summary() const {
  return "decay: " + group_size(decayed) + "; no decay: " + group_size(undecayed) +
         (frozen.empty() ? "" : "; frozen: " + group_size(frozen));
}

void ParameterGroups::slow_backbone(double rate, const std::vector<std::string>& heads) {
  const auto in_head = [&](const NamedParameter& parameter) {
    return std::ranges::any_of(heads, [&](const std::string& head) { return parameter.name.starts_with(head + "."); });
  };
  if (std::ranges::none_of(decayed, in_head) && std::ranges::none_of(undecayed, in_head))
    throw std::invalid_argument("optimizer.backbone_rate needs a model with a head, but this model has no head");
  for (std::vector<NamedParameter>* group : {&decayed, &undecayed}) {
    if (rate > 0) {
      for (NamedParameter& parameter : *group)
        if (!in_head(parameter)) parameter.rate = rate;
      continue;
    }
    const auto backbone = std::stable_partition(group->begin(), group->end(), in_head);
    for (auto parameter = backbone; parameter != group->end(); ++parameter)
      frozen.emplace_back(std::move(*parameter)).tensor.set_requires_grad(false);
    group->erase(backbone, group->end());
  }
}

ParameterGroups parameter_groups(const torch::nn::Module& model, const std::vector<std::string>& without_decay) {
  ParameterGroups groups;
  for (const io::NamedTensor& parameter : io::distinct_parameters(model)) {
    if (!parameter.tensor.requires_grad()) continue;
    const bool undecayed = parameter.tensor.dim() <= 1 || takes_no_decay(parameter.name(), without_decay);
    (undecayed ? groups.undecayed : groups.decayed).push_back({parameter.name(), parameter.tensor, 1});
  }
  if (groups.decayed.empty() && groups.undecayed.empty()) {
    throw std::invalid_argument("the model has no trainable parameters");
  }
  return groups;
}

}  // namespace cachet::train
