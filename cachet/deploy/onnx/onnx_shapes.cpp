#include <string>
#include <utility>
#include <vector>

#include "cachet/deploy/onnx/onnx_rules.h"

// Rules that change a shape, and nothing but a shape. Arguments stand in the order of ATen's schemas.
namespace cachet::deploy {
namespace {

namespace jit = torch::jit;

using Step = OnnxStep;
using Integers = std::vector<int64_t>;

void same(Step& s) { s.give(s.tensor(0)); }

void reshape(Step& s) { s.give(s.model.add("Reshape", {s.tensor(0), s.sizes(1)}, {{"allowzero", int64_t{0}}})); }

// Replaces the sizes of dimensions from `first` up to `end` by others.
void replace_sizes(Step& s, int64_t first, int64_t end, const std::string& sizes) {
  const std::string x = s.tensor(0);
  std::vector<std::string> parts;
  if (first > 0) parts.push_back(s.sizes_of(x, 0, first));
  parts.push_back(sizes);
  if (end < s.rank(0)) parts.push_back(s.sizes_of(x, end, s.rank(0)));
  const std::string shape = parts.size() == 1 ? sizes : s.model.add("Concat", parts, {{"axis", int64_t{0}}});
  s.give(s.model.add("Reshape", {x, shape}));
}

void flatten(Step& s) { replace_sizes(s, s.dimension(1, 0), s.dimension(2, 0) + 1, s.model.constant(Integers{-1})); }
void unflatten(Step& s) { replace_sizes(s, s.dimension(1, 0), s.dimension(1, 0) + 1, s.sizes(2)); }

// −1 keeps a size, as a 1 does in the standard's operator.
void expand(Step& s) {
  std::vector<std::string> parts;
  for (jit::Value* size : s.list(1)) {
    const auto known = jit::toIValue(size);
    parts.push_back(known && known->toInt() == -1 ? s.model.constant(Integers{1}) : s.name_of(size));
  }
  s.give(s.model.add("Expand", {s.tensor(0), s.model.add("Concat", parts, {{"axis", int64_t{0}}})}));
}

void expand_as(Step& s) { s.give(s.model.add("Expand", {s.tensor(0), s.model.add("Shape", {s.tensor(1)})})); }

void permute(Step& s) {
  Integers order = s.integers(1);
  for (int64_t& dimension : order) dimension += dimension < 0 ? s.rank(0) : 0;
  s.give(s.model.add("Transpose", {s.tensor(0)}, {{"perm", order}}));
}

void swap_dimensions(Step& s, int64_t one, int64_t other) {
  Integers order;
  for (int64_t i = 0; i < s.rank(0); ++i) order.push_back(i);
  std::swap(order.at(static_cast<size_t>(one)), order.at(static_cast<size_t>(other)));
  s.give(s.model.add("Transpose", {s.tensor(0)}, {{"perm", order}}));
}
void transpose(Step& s) { swap_dimensions(s, s.dimension(1, 0), s.dimension(2, 0)); }
void t(Step& s) { swap_dimensions(s, 0, s.rank(0) - 1); }

void squeeze(Step& s) { s.give(s.model.add("Squeeze", {s.tensor(0), s.model.constant(Integers{s.integer(1)})})); }
void unsqueeze(Step& s) { s.give(s.model.add("Unsqueeze", {s.tensor(0), s.model.constant(Integers{s.integer(1)})})); }
void repeat(Step& s) { s.give(s.model.add("Tile", {s.tensor(0), s.sizes(1)})); }
void size(Step& s) {
  const int64_t dimension = s.dimension(1, 0);
  s.give(s.sizes_of(s.tensor(0), dimension, dimension + 1));
}

void cat(Step& s) {
  std::vector<std::string> parts;
  for (jit::Value* part : s.list(0)) parts.push_back(s.name_of(part));
  s.give(s.model.add("Concat", parts, {{"axis", s.integer(1)}}));
}

void stack(Step& s) {
  const int64_t given = s.integer(1), axis = given < 0 ? given + s.result_rank() : given;
  std::vector<std::string> parts;
  for (jit::Value* part : s.list(0))
    parts.push_back(s.model.add("Unsqueeze", {s.name_of(part), s.model.constant(Integers{axis})}));
  s.give(s.model.add("Concat", parts, {{"axis", axis}}));
}

// Each several times, one after the other: laid side by side along a new dimension, which then goes into the one
// before.
void repeat_each(Step& s) {
  TORCH_CHECK(!s.is_none(2), "onnx: repetition can be written only along a dimension");
  const int64_t dimension = s.dimension(2, 0), rank = s.rank(0);
  Integers times(static_cast<size_t>(rank + 1), 1);
  times.at(static_cast<size_t>(dimension + 1)) = s.integer(1);
  const std::string x = s.tensor(0);
  const std::string apart = s.model.add("Unsqueeze", {x, s.model.constant(Integers{dimension + 1})});
  const std::string tiled = s.model.add("Tile", {apart, s.model.constant(times)});
  std::vector<std::string> sizes;
  if (dimension > 0) sizes.push_back(s.sizes_of(x, 0, dimension));
  sizes.push_back(s.model.constant(Integers{-1}));
  if (dimension + 1 < rank) sizes.push_back(s.sizes_of(x, dimension + 1, rank));
  s.give(s.model.add("Reshape", {tiled, s.model.add("Concat", sizes, {{"axis", int64_t{0}}})}));
}

}  // namespace

const OnnxRules& onnx_shapes() {
  static const OnnxRules rules{
      {"aten::alias", same},
      {"aten::cat", cat},
      {"aten::clone", same},
      {"aten::contiguous", same},
      {"aten::detach", same},
      {"aten::dropout", same},
      {"aten::expand", expand},
      {"aten::expand_as", expand_as},
      {"aten::flatten", flatten},
      {"aten::permute", permute},
      {"aten::repeat", repeat},
      {"aten::repeat_interleave.self_int", repeat_each},
      {"aten::reshape", reshape},
      {"aten::size.int", size},
      {"aten::squeeze.dim", squeeze},
      {"aten::stack", stack},
      {"aten::t", t},
      {"aten::transpose", transpose},
      {"aten::unflatten", unflatten},
      {"aten::unsqueeze", unsqueeze},
      {"aten::view", reshape},
  };
  return rules;
}

}  // namespace cachet::deploy
