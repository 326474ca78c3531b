#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace cachet::models {

class Model;

/// The description of a model's input (one sample), for people and for JSON.
struct ModelInput {
  std::string kind;                                                          // "image"
  std::vector<std::pair<std::string, std::variant<int64_t, bool>>> sizes{};  // {"channels", 3}, …
  std::string text{};                                                        // "3 x 224 x 224"
};

/// The parsed configuration of a model that is not yet built. Reading a recipe collects problems. If the recipe has
/// problems, Document::finish() reports all of them before the model is built.
struct ModelPlan {
  std::string name;
  ModelInput input;
  std::function<std::shared_ptr<Model>()> build;
};

}  // namespace cachet::models
