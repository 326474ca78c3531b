#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "cachet/deploy/onnx/onnx_rules.h"

// Rules that take elements by their positions, sort them, and fill tensors. Arguments stand in the order of ATen's
// schemas.
namespace cachet::deploy {
namespace {

namespace jit = torch::jit;

using Step = OnnxStep;
using Integers = std::vector<int64_t>;

void unbind(Step& s) {
  const std::string x = s.tensor(0);
  std::vector<std::string> parts;
  for (size_t i = 0; i < s.parts(); ++i)
    parts.push_back(
        s.model.add("Gather", {x, s.model.scalar(static_cast<double>(i), at::kLong)}, {{"axis", s.integer(1)}}));
  s.give_parts(parts);
}

void chunk(Step& s) {
  const std::vector<OnnxAttribute> attributes{{"axis", s.integer(2)}, {"num_outputs", static_cast<int64_t>(s.parts())}};
  s.give_parts(s.model.add("Split", {s.tensor(0)}, attributes, s.parts()));
}

void select(Step& s) {
  s.give(s.model.add("Gather", {s.tensor(0), s.model.scalar(s.real(2), at::kLong)}, {{"axis", s.integer(1)}}));
}

// The first `length` of a dimension. OpenVINO passes a Slice by that stands before GatherElements: those are split off.
bool is_gathered_beginning(const Step& s, size_t start, size_t length) {
  const auto first = s.constant(start), count = s.constant(length);
  const auto& uses = s.node().output()->uses();
  return first && count && first->toInt() == 0 && count->toInt() > 0 &&
         std::ranges::any_of(uses, [](const jit::Use& use) { return use.user->kind() == jit::aten::gather; });
}

std::string beginning(const Step& s, int64_t dimension, int64_t length) {
  const int64_t rest = s.traced_size(0, dimension) - length;
  if (rest <= 0) return s.tensor(0);
  return s.model.add("Split", {s.tensor(0), s.model.constant(Integers{length, rest})}, {{"axis", dimension}}, 2)
      .front();
}

void narrow(Step& s) {
  if (is_gathered_beginning(s, 2, 3)) return s.give(beginning(s, s.dimension(1, 0), s.integer(3)));
  const std::string start = s.tensor(2), end = s.model.add("Add", {start, s.tensor(3)});
  s.give(s.model.add("Slice", {s.tensor(0), start, end, s.model.constant(Integers{s.integer(1)})}));
}

void slice(Step& s) {
  if (!s.is_none(2) && !s.is_none(3) && s.integer(4) == 1 && is_gathered_beginning(s, 2, 3) &&
      s.integer(3) <= s.traced_size(0, s.dimension(1, 0)))
    return s.give(beginning(s, s.dimension(1, 0), s.integer(3)));
  const std::string start = s.is_none(2) ? s.model.constant(Integers{0}) : s.tensor(2);
  const std::string end = s.is_none(3) ? s.model.constant(Integers{std::numeric_limits<int64_t>::max()}) : s.tensor(3);
  s.give(s.model.add("Slice", {s.tensor(0), start, end, s.model.constant(Integers{s.integer(1)}),
                               s.model.constant(Integers{s.integer(4)})}));
}

void gather(Step& s) { s.give(s.model.add("GatherElements", {s.tensor(0), s.tensor(2)}, {{"axis", s.integer(1)}})); }
void index_select(Step& s) { s.give(s.model.add("Gather", {s.tensor(0), s.tensor(2)}, {{"axis", s.integer(1)}})); }
void embedding(Step& s) { s.give(s.model.add("Gather", {s.tensor(0), s.tensor(1)}, {{"axis", int64_t{0}}})); }

// One index, or several of dimensions that follow each other: these become one dimension, and its rows are taken.
// Indices are not below 0.
void index(Step& s) {
  const std::vector<jit::Value*> indices = s.list(1);
  std::vector<int64_t> indexed;
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i]->type()->kind() != c10::TypeKind::NoneType) indexed.push_back(static_cast<int64_t>(i));
  TORCH_CHECK(!indexed.empty() && indexed.back() - indexed.front() + 1 == std::ssize(indexed),
              "onnx: indexing can be written only for adjacent dimensions");
  const std::string x = s.tensor(0);
  const int64_t first = indexed.front(), end = indexed.back() + 1, rank = s.rank(0);
  std::string place;
  for (const int64_t dimension : indexed) {
    jit::Value* value = indices[static_cast<size_t>(dimension)];
    const auto type = value->type()->cast<c10::TensorType>();
    TORCH_CHECK(type && type->scalarType() == at::kLong, "onnx: indices must be 64-bit whole numbers");
    const std::string own = s.name_of(value);
    if (place.empty()) {
      place = own;
      continue;
    }
    const std::string size = s.model.add("Squeeze", {s.sizes_of(x, dimension, dimension + 1)});
    place = s.model.add("Add", {s.model.add("Mul", {place, size}), own});
  }
  std::string rows = x;
  if (end - first > 1) {
    std::vector<std::string> sizes;
    if (first > 0) sizes.push_back(s.sizes_of(x, 0, first));
    sizes.push_back(s.model.constant(Integers{-1}));
    if (end < rank) sizes.push_back(s.sizes_of(x, end, rank));
    rows = s.model.add("Reshape", {x, s.model.add("Concat", sizes, {{"axis", int64_t{0}}})});
  }
  s.give(s.model.add("Gather", {rows, place}, {{"axis", first}}));
}

void scatter_in_place(Step& s) {
  s.give_in_place(
      s.model.add("ScatterElements", {s.tensor(0), s.tensor(2), s.tensor(3)}, {{"axis", s.dimension(1, 0)}}));
}

// ATen has (last before, last after, …), the standard all before and then all after, of the dimensions that it names.
void pad(Step& s) {
  const auto both = s.list(1);
  std::vector<std::string> before, after;
  Integers axes;
  for (size_t i = 0; i < both.size() / 2; ++i) {
    before.push_back(s.name_of(both[2 * i]));
    after.push_back(s.name_of(both[2 * i + 1]));
    axes.push_back(s.rank(0) - 1 - static_cast<int64_t>(i));
  }
  before.insert(before.end(), after.begin(), after.end());
  s.give(s.model.add("Pad", {s.tensor(0), s.model.add("Concat", before, {{"axis", int64_t{0}}}),
                             s.scalar(2, s.dtype(0)), s.model.constant(axes)}));
}

// 0, 1, … up to a size (1), as a tensor (N).
std::string positions(const Step& s, const std::string& size) {
  return s.model.add("Range",
                     {s.model.scalar(0, at::kLong), s.model.add("Squeeze", {size}), s.model.scalar(1, at::kLong)});
}

// Not every engine keeps the order of equal ones, as the standard's operator should: whole numbers are made different
// by their positions.
// `values` are input 0, or smaller ones in the same order.
std::string order_of(const Step& s, const std::string& values) {
  const int64_t dimension = s.dimension(2, 0);
  const bool descending = s.yes(3);
  TORCH_CHECK(!c10::isFloatingType(s.dtype(0)) && dimension == s.rank(0) - 1,
              "onnx: sorting can be written only for whole numbers along the last dimension");
  const std::string size = s.sizes_of(s.tensor(0), dimension, dimension + 1);
  const std::string scaled = s.model.add("Mul", {values, size});
  const std::string keys = s.model.add(descending ? "Sub" : "Add", {scaled, positions(s, size)});
  return s.model.add("TopK", {keys, size},
                     {{"axis", dimension}, {"largest", int64_t{descending}}, {"sorted", int64_t{1}}}, 2)[1];
}
void sort(Step& s) {
  const std::string order = order_of(s, s.tensor_as(0, at::kLong));
  s.give_all({s.model.add("GatherElements", {s.tensor(0), order}, {{"axis", s.dimension(2, 0)}}), order});
}
// Of numbers of buckets, 2^14 at most. The largest number of all marks padding, which comes last: it
// could not be multiplied, where engines compute in 32 bits.
void argsort(Step& s) {
  constexpr double kAboveBuckets = 1 << 15;
  s.give(order_of(s, s.model.add("Min", {s.tensor_as(0, at::kLong), s.model.scalar(kAboveBuckets, at::kLong)})));
}

void filled(Step& s, const std::string& sizes, double value) {
  s.give(s.model.add("Expand", {s.model.scalar(value, s.result_dtype()), sizes}));
}
void zeros(Step& s) { filled(s, s.sizes(0), 0); }
void ones(Step& s) { filled(s, s.sizes(0), 1); }
void full(Step& s) { filled(s, s.sizes(0), s.real(1)); }
void full_like(Step& s) { filled(s, s.model.add("Shape", {s.tensor(0)}), s.real(1)); }
void empty_like(Step& s) { filled(s, s.model.add("Shape", {s.tensor(0)}), 0); }
void fill_in_place(Step& s) {
  const std::string x = s.tensor(0);
  s.give_in_place(s.model.add("Expand", {s.scalar(1, s.dtype(0)), s.model.add("Shape", {x})}));
}

void arange(Step& s) { s.give(s.cast(positions(s, s.tensor(0)), at::kLong, s.result_dtype())); }

}  // namespace

const OnnxRules& onnx_places() {
  static const OnnxRules rules{
      {"aten::arange.default", arange},
      {"aten::argsort.stable", argsort},
      {"aten::chunk", chunk},
      {"aten::constant_pad_nd", pad},
      {"aten::embedding", embedding},
      {"aten::empty_like", empty_like},
      {"aten::fill_", fill_in_place},
      {"aten::full", full},
      {"aten::full_like", full_like},
      {"aten::gather", gather},
      {"aten::index.Tensor", index},
      {"aten::index_select", index_select},
      {"aten::narrow", narrow},
      {"aten::ones", ones},
      {"aten::scatter_.src", scatter_in_place},
      {"aten::select", select},
      {"aten::slice", slice},
      {"aten::sort.stable", sort},
      {"aten::unbind", unbind},
      {"aten::zeros", zeros},
  };
  return rules;
}

}  // namespace cachet::deploy
