#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"

namespace cachet::io {

// Conversion of foreign tensors to ours by rules. The rules are data: applied forward they import, inverted they
// export. They work on any dictionary of tensors: parameters, gradients, moments.
//
// Names in rules are patterns that match whole names. `*` matches one or more characters without a dot, `#` matches a
// number, `**` matches any characters or none; each matches as many as the rest allows, from the left. Both sides have
// the same wildcards in the same order: "block#.*.**" may become "stages.#.blocks.*.**".

/// Changes the name. `add` is added to the number that the first `#` matches; a negative sum does not match.
struct Rename {
  std::string from;
  std::string to;
  int64_t add = 0;
};

/// Concatenates several tensors along a dimension: q (D rows) and kv (2 D rows) become qkv (3 D rows). Their sizes must
/// be in the proportion of `parts`, here {1, 2}. The inverse splits in this proportion.
struct Join {
  std::vector<std::string> from;
  std::string to;
  std::vector<int64_t> parts;
  int64_t dim = 0;
};

/// Splits a tensor along a dimension in the proportion of `parts`: the inverse of Join.
struct Split {
  std::string from;
  std::vector<std::string> to;
  std::vector<int64_t> parts;
  int64_t dim = 0;
};

/// Changes name and shape; a size of -1 (once) is inferred. `back` is the shape for the inverse.
struct Reshape {
  std::string from;
  std::string to;
  std::vector<int64_t> shape;
  std::vector<int64_t> back;
};

/// Changes name and order of dimensions: dimension i of the result is dimension order[i] of the source.
struct Permute {
  std::string from;
  std::string to;
  std::vector<int64_t> order;
};

/// The tensor is dropped (a constant table, a count). The inverse does not restore it.
struct Drop {
  std::string from;
};

using NameRule = std::variant<Rename, Join, Split, Reshape, Permute, Drop>;

/// A table of rules. The first rule that matches a name is applied.
class NameMap {
 public:
  /// The treatment of a tensor that no rule matches: it passes unchanged or is left out. It is listed either way.
  enum class Unmatched { kPass, kLeaveOut };
  struct Result {
    TensorMap tensors;
    std::vector<std::string> unmatched;
  };

  /// Throws std::invalid_argument for a rule that contradicts itself: other wildcards on the two sides, another number
  /// of parts than names, `add` without a `#`, an order that is not a permutation.
  explicit NameMap(std::vector<NameRule> rules);

  /// Throws io::Error that names the tensors if two get one name, a Join lacks some of its parts, or sizes are out of
  /// proportion. If a rule allows it, results use the memory of the sources.
  Result apply(const TensorMap& tensors, Unmatched unmatched = Unmatched::kPass) const;

  /// Returns the map from our names to theirs.
  NameMap inverted() const;

  const std::vector<NameRule>& rules() const { return rules_; }

 private:
  std::vector<NameRule> rules_;
};

}  // namespace cachet::io
