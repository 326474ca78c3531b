#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace cachet::nn {

/// What an export does with a model that has a plug-in of a kind. It is a member of the kind's record.
enum class Export {
  refused,  // it names the kind and refuses
  traced,   // it traces the forward pass: made of tensor operations, and no branch depends on a tensor's values
};

/// A key whose value does not fit a layer, and why.
struct Misfit {
  std::string key, text;
};

/// What the row of a table of kinds makes: a norm, a cache or an attention function.
class PlugIn {
 public:
  virtual ~PlugIn() = default;

  /// Why a model with it cannot be exported; empty if it can.
  const std::string& why_not_exported() const { return why_not_exported_; }
  void refuse_export(std::string why) { why_not_exported_ = std::move(why); }

 private:
  std::string why_not_exported_;
};

/// `made` by a kind of `family` ("norm"), marked with its record's rule for exports.
template <class Made>
std::shared_ptr<Made> marked(std::shared_ptr<Made> made, Export exports, std::string_view family,
                             std::string_view kind) {
  if (exports == Export::refused)
    made->refuse_export("the " + std::string(family) + " '" + std::string(kind) +
                        "' does not define how it is exported; if it consists of tensor operations only, write "
                        "`.exports = nn::Export::traced` in its record");
  return made;
}

}  // namespace cachet::nn
