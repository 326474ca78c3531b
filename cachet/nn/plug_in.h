#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace cachet::nn {

/// Whether models with a certain kind of plug-in can be exported, and how. The record of each kind (such as NormKind)
/// has an export rule as its member `exports`.
enum class Export {
  refused,  // the export refuses the model with a message that names the kind
  traced,   // the export traces the forward pass: tensor operations, without branches on values of tensors
};

/// A recipe key whose value does not fit a layer, and the reason.
struct Misfit {
  std::string key, text;
};

/// The base class of norms, caches and attention functions, whose kinds are selected in recipes.
class PlugIn {
 public:
  virtual ~PlugIn() = default;

  /// Returns the reason why a model with this plug-in cannot be exported. If such a model can be exported, returns an
  /// empty text.
  const std::string& why_not_exported() const { return why_not_exported_; }
  void refuse_export(std::string why) { why_not_exported_ = std::move(why); }

 private:
  std::string why_not_exported_;
};

/// Applies `exports`, the export rule of a kind, to `made`, an object of this kind. `family`: for example "norm".
template <class Made>
std::shared_ptr<Made> marked(std::shared_ptr<Made> made, Export exports, std::string_view family,
                             std::string_view kind) {
  if (exports == Export::refused)
    made->refuse_export("the " + std::string(family) + " '" + std::string(kind) +
                        "' does not define how to export it; if it has only tensor operations, add `.exports = "
                        "nn::Export::traced` to its record");
  return made;
}

}  // namespace cachet::nn
