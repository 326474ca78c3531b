#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"

namespace cachet::io {

// How foreign tensors become ours: rules as data, applied forward to import and inverted to export. They work on any
// dictionary of tensors: parameters, gradients, moments.
//
// Names in rules are patterns that match whole names. `*` stands for one or more characters without a dot, `#` for a
// number, `**` for any characters at all, none included; each for as many as the rest allows, from the left. Both sides
// have the same wildcards in the same order: "block#.*.**" may become "stages.#.blocks.*.**".

/// Another name. `add` is added to the number that the first `#` stands for; a sum below 0 does not match.
struct Rename {
  std::string from;
  std::string to;
  int64_t add = 0;
};

/// Several tensors concatenated along a dimension: q (D rows) and kv (2 D rows) become qkv (3 D rows). The
/// sizes must be in the proportion of `parts`, {1, 2}, by which the inverse splits.
struct Join {
  std::vector<std::string> from;
  std::string to;
  std::vector<int64_t> parts;
  int64_t dim = 0;
};

/// One tensor cut along a dimension in the proportion of `parts`: the inverse of Join.
struct Split {
  std::string from;
  std::vector<std::string> to;
  std::vector<int64_t> parts;
  int64_t dim = 0;
};

/// Another name and shape; a size of -1 (once) is inferred. `back` is the shape for the inverse.
struct Reshape {
  std::string from;
  std::string to;
  std::vector<int64_t> shape;
  std::vector<int64_t> back;
};

/// Another name and order of dimensions: dimension i of the result is dimension order[i] of the source.
struct Permute {
  std::string from;
  std::string to;
  std::vector<int64_t> order;
};

/// Left out: a constant table, a count. The inverse does not bring it back.
struct Drop {
  std::string from;
};

using NameRule = std::variant<Rename, Join, Split, Reshape, Permute, Drop>;

/// A table of rules; of those that match a name the first takes it.
class NameMap {
 public:
  /// What becomes of a tensor whose name no rule matches: it passes as it is, or is left out. It is listed either way.
  enum class Unmatched { kPass, kLeaveOut };
  struct Result {
    TensorMap tensors;
    std::vector<std::string> unmatched;
  };

  /// Throws std::invalid_argument for a rule that contradicts itself: other wildcards on the two sides, another number
  /// of parts than names, `add` without a `#`, an order that is not a permutation.
  explicit NameMap(std::vector<NameRule> rules);

  /// Throws io::Error that names the tensors when two get one name, a Join lacks some of its parts, or sizes are out of
  /// proportion. Results share memory with the sources where the rule allows.
  Result apply(const TensorMap& tensors, Unmatched unmatched = Unmatched::kPass) const;

  /// The map from ours to theirs.
  NameMap inverted() const;

  const std::vector<NameRule>& rules() const { return rules_; }

 private:
  std::vector<NameRule> rules_;
};

}  // namespace cachet::io
