#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cachet::tasks {

/// Published weights that `import` and train.init use for a model of the registry if the recipe has no key for weights.
struct PublishedWeights {
  std::string hub{};   // on the Hugging Face hub: "hf:timm/vit_tiny_patch16_224.augreg_in21k_ft_in1k"; "" = elsewhere
  std::string code{};  // source code of the publisher: "timm", "whai362/PVT"
  std::string name() const { return hub.empty() ? code : hub; }
};

/// Returns the weights for a model; empty if no published weights are known to fit. timm may have other weights of the
/// same architecture, which were trained in another way.
std::optional<PublishedWeights> published_weights(std::string_view model);

}  // namespace cachet::tasks
