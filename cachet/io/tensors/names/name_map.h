#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"

namespace cachet::io {

// Rules convert the names and shapes of other libraries' tensors to Cachet's names and shapes. An export inverts the
// rules. Rules work on any dictionary of tensors: parameters, gradients, moments.
//
// Names in rules are patterns that match whole names. `*` matches one or more characters without a dot, `#` matches a
// number, `**` matches any characters or none. From the left, each wildcard matches as many characters as possible.
// Both sides of a rule have the same wildcards in the same order: "block#.*.**" may become "stages.#.blocks.*.**".

/// Renames a tensor, and adds `add` to the number that the first `#` matches. If the resulting number is negative, the
/// rule does not apply to the tensor.
struct Rename {
  std::string from;
  std::string to;
  int64_t add = 0;
};

/// Concatenates several tensors along a dimension: q (D rows) and kv (2 D rows) become qkv (3 D rows). The sizes of the
/// tensors along the dimension must be in the proportion of `parts`, which is {1, 2} for q and kv. The inverse rule
/// splits a tensor in the proportion of `parts`.
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

/// Changes the name and the shape of a tensor. If a size is −1, it is computed from the other sizes. `back` is the
/// shape that the inverse rule gives to the tensor.
struct Reshape {
  std::string from;
  std::string to;
  std::vector<int64_t> shape;
  std::vector<int64_t> back;
};

/// Changes a tensor's name and order of dimensions: dimension i of the result is dimension order[i] of the source.
struct Permute {
  std::string from;
  std::string to;
  std::vector<int64_t> order;
};

/// Drops a tensor, such as a constant table or a count. The inverse rule does not restore the dropped tensor.
struct Drop {
  std::string from;
};

using NameRule = std::variant<Rename, Join, Split, Reshape, Permute, Drop>;

/// A table of rules that convert the names and shapes of tensors. The first rule that matches a name is applied.
class NameMap {
 public:
  /// The treatment of a tensor that no rule matches: it is passed on unchanged or left out. Its name is in `unmatched`.
  enum class Unmatched { kPass, kLeaveOut };
  struct Result {
    TensorMap tensors;
    std::vector<std::string> unmatched;
  };

  /// Throws std::invalid_argument for a rule that contradicts itself: different wildcards on the two sides, different
  /// numbers of parts and names, `add` without a `#`, or an order that is not a permutation.
  explicit NameMap(std::vector<NameRule> rules);

  /// Applies the rules. Throws io::Error, which names the tensors, if two tensors get one name, a Join lacks some
  /// parts, or sizes are not in the proportion of `parts`. If possible, the resulting tensors share the memory of the
  /// source tensors.
  Result apply(const TensorMap& tensors, Unmatched unmatched = Unmatched::kPass) const;

  /// Returns the inverse map, from Cachet's names to the foreign names.
  NameMap inverted() const;

  const std::vector<NameRule>& rules() const { return rules_; }

 private:
  std::vector<NameRule> rules_;
};

}  // namespace cachet::io
