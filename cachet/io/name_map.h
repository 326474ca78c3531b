#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cachet/io/tensor_map.h"

namespace cachet::io {

/// How foreign tensors become ours: rules as data, applied forward to import and inverted to export. They work on any
/// dictionary of tensors: parameters, gradients, moments.
///
/// A pattern matches a whole name. `*` stands for one or more characters, `#` for a number (digits); what they stand
/// for is put, in order, where the other side has them. `**` stands for any number of characters, none included.
/// Matching takes the longest possible text for each, from the left. A side with prefix "a.**" thus renames everything
/// below "a.".
struct Rename {
  std::string from;
  std::string to;
  int64_t add = 0;  // added to the first `#` on the way, subtracted on the way back
};

/// Several tensors laid behind each other along a dimension: q (D rows) and kv (2 D rows) -> qkv (3 D rows). The
/// inverse splits in proportion to `parts`.
struct Join {
  std::vector<std::string> from;
  std::string to;
  std::vector<int64_t> parts;  // relative sizes, {1, 2}
  int64_t dim = 0;
};

/// One tensor cut along a dimension in proportion to `parts`; the inverse of Join.
struct Split {
  std::string from;
  std::vector<std::string> to;
  std::vector<int64_t> parts;
  int64_t dim = 0;
};

/// A renamed tensor with another shape; sizes are literal, 0 keeps the size of that dimension, -1 (once) is inferred.
/// `back` is the shape for the inverse, by the same signs.
struct Reshape {
  std::string from;
  std::string to;
  std::vector<int64_t> shape;
  std::vector<int64_t> back;
};

/// A renamed tensor with permuted dimensions: dimension i of the result is dimension order[i] of the source.
struct Permute {
  std::string from;
  std::string to;
  std::vector<int64_t> order;
};

/// A tensor that has no counterpart (a constant table, a count): left out, and absent from the inverse.
struct Drop {
  std::string from;
};

using NameRule = std::variant<Rename, Join, Split, Reshape, Permute, Drop>;

class NameMap {
 public:
  /// What to do with a name that no rule matches.
  enum class Unmatched { kPass, kList };
  struct Result {
    TensorMap tensors;
    std::vector<std::string> unmatched;  // names that no rule took; with kPass they are in `tensors` too
  };

  /// The first rule that matches a name takes it. Throws std::invalid_argument for rules that contradict themselves
  /// (unequal wildcards, parts for another number of names).
  explicit NameMap(std::vector<NameRule> rules);

  /// Renames only once. Throws io::Error when two tensors get one name, a Join lacks some of its parts, or sizes do not
  /// divide; the message names the tensors.
  Result apply(const TensorMap& tensors, Unmatched unmatched = Unmatched::kPass) const;

  /// The map from ours to theirs.
  NameMap inverted() const;

  /// This map first, then `next`.
  const std::vector<NameRule>& rules() const { return rules_; }

 private:
  std::vector<NameRule> rules_;
};

}  // namespace cachet::io
