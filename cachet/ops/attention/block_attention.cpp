#include "cachet/ops/attention/block_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>
#include <tuple>

#include "cachet/kernels/block_softmax.h"
#include "cachet/ops/attention/attention_checks.h"
#include "cachet/ops/attention/block_attention_cpu.h"
#include "cachet/ops/support/call.h"
#include "cachet/ops/support/device_check.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/optional_tensor.h"
#include "cachet/ops/support/registration.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;
using BlockOutputs = std::tuple<Tensor, Tensor>;
using BlockGradients = std::tuple<Tensor, Tensor, Tensor>;

// Operands of the operator, in the order of its schema.
struct BlockOperands {
  Tensor q, k, v, blocks;
  int64_t block_size;
  double scale;
  OptionalTensor query_positions, key_positions;
  int64_t least, most;
  bool own_last;

  template <class Take>
  auto list(const Take& take) const {
    return take(q, k, v, blocks, block_size, scale, query_positions, key_positions, least, most, own_last);
  }
};

using BlockForms =
    Listed<BlockOperands, BlockOutputs(const Tensor&, const Tensor&, const Tensor&, const Tensor&, int64_t, double,
                                       const OptionalTensor&, const OptionalTensor&, int64_t, int64_t, bool)>;

struct BlockGradientOperands {
  Tensor grad, grad_sums, q, k, v, blocks;
  int64_t block_size;
  double scale;
  OptionalTensor query_positions, key_positions;
  int64_t least, most;
  bool own_last;
  Tensor output, sums;

  BlockOperands forward() const {
    return {q, k, v, blocks, block_size, scale, query_positions, key_positions, least, most, own_last};
  }
};

using BlockGradientForms =
    Listed<BlockGradientOperands,
           BlockGradients(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                          int64_t, double, const OptionalTensor&, const OptionalTensor&, int64_t, int64_t, bool,
                          const Tensor&, const Tensor&)>;

void check_positions(const char* name, const OptionalTensor& positions, c10::SymIntArrayRef sizes) {
  if (!positions) return;
  const auto fits = [&](int64_t dim) {
    return same_size_or_one(positions->sym_size(dim), sizes[static_cast<size_t>(dim)]);
  };
  TORCH_CHECK(positions->dim() == 3 && positions->scalar_type() == at::kLong && fits(0) && fits(1) &&
                  same_size(positions->sym_size(2), sizes[2]),
              "block_attention: ", name, " must be int64 (B, H, L) = ", sizes, ", or 1 in place of B or H, got ",
              positions->scalar_type(), " ", positions->sym_sizes());
}

void check_block_operands(const BlockOperands& call) {
  const Tensor &q = call.q, &blocks = call.blocks;
  TORCH_CHECK(q.dim() == 4 && q.is_floating_point(), "block_attention: q must be floating (B, H, Lq, d), got ",
              q.scalar_type(), " ", q.sym_sizes());
  check_attention_operands("block_attention", 'd', q, call.k, call.v);
  TORCH_CHECK(call.block_size >= 1, "block_attention: block_size must be at least 1, got ", call.block_size);
  const auto rows = chunks_of(q.sym_size(2), call.block_size);
  TORCH_CHECK(blocks.dim() == 3 && blocks.scalar_type() == at::kLong &&
                  same_size_or_one(blocks.sym_size(0), q.sym_size(1)) && same_size(blocks.sym_size(1), rows),
              "block_attention: blocks must be int64 (H or 1, ", rows, ", W) for q of ", q.sym_sizes(),
              " in blocks of ", call.block_size, ", got ", blocks.scalar_type(), " ", blocks.sym_sizes());
  check_positions("query_positions", call.query_positions, {q.sym_size(0), q.sym_size(1), q.sym_size(2)});
  check_positions("key_positions", call.key_positions, {q.sym_size(0), q.sym_size(1), call.k.sym_size(2)});
  check_same_device("block_attention", q,
                    {{"k", call.k},
                     {"v", call.v},
                     {"blocks", blocks},
                     {"query_positions", call.query_positions},
                     {"key_positions", call.key_positions}});
}

void check_block_gradient(const BlockGradientOperands& call) {
  constexpr const char* op = "block_attention_backward";
  const Tensor& q = call.q;
  check_block_operands(call.forward());
  const auto wide = c10::promoteTypes(q.scalar_type(), at::kFloat);
  const c10::SymDimVector attended{q.sym_size(0), q.sym_size(1), q.sym_size(2), call.v.sym_size(3)};
  const auto rows = q.sym_sizes().slice(0, 3);
  check_shape(op, "grad", call.grad, attended, q);
  check_shape(op, "output", call.output, attended, q);
  check_shape(op, "grad_logsumexp", call.grad_sums, rows, q, wide);
  check_shape(op, "logsumexp", call.sums, rows, q, wide);
}

// --- composite -------------------------------------------------------------------------------------------------------

// (…, L) or (…, L, n) in blocks: (…, N, size) or (…, N, size, n), filled up with `fill`.
Tensor cut_into_blocks(const Tensor& x, int64_t dim, int64_t size, const at::Scalar& fill) {
  std::vector<int64_t> pad(static_cast<size_t>(2 * (x.dim() - dim)), 0);
  // As much for every length, and always more than is used: the program does not depend on whether the blocks are of
  // equal length.
  pad.back() = size;
  const auto count = chunks_of(x.sym_size(dim), size);
  return at::constant_pad_nd(x, pad, fill)
      .narrow_symint(dim, 0, count * size)
      .unflatten_symint(dim, {count, c10::SymInt(size)});
}

// The blocks that each block of queries meets, side by side: x (B, h, Nk, size, …) -> (B, H, Nq, W·size, …), h = H
// or 1.
Tensor gather_met(const Tensor& x, const Tensor& blocks, const c10::SymInt& heads) {
  const auto rows = blocks.sym_size(1), met = blocks.sym_size(2);
  const Tensor which = blocks.clamp_min(0).expand_symint({heads, rows, met}).flatten(1);
  const Tensor head =
      is_size(x.sym_size(1), 1) ? at::zeros({1, 1}, which.options()) : at::arange(heads, which.options()).unsqueeze(1);
  const Tensor gathered = at::index(x, {OptionalTensor(), OptionalTensor(head), OptionalTensor(which)});
  return gathered.unflatten_symint(2, {rows, met}).flatten(3, 4);
}

// Which keys among those met are seen, (B or 1, H, Nq, size, W·size), and which of them stand at the query's position.
struct Visibility {
  Tensor seen, own;
};

Visibility visibility(const BlockOperands& call) {
  const Tensor& blocks = call.blocks;
  const int64_t size = call.block_size;
  const auto positions = [&](const OptionalTensor& given, const c10::SymInt& length) {
    return given ? *given : at::arange(length, blocks.options()).view_symint({1, 1, length});
  };
  const Tensor keys = cut_into_blocks(positions(call.key_positions, call.k.sym_size(2)), 2, size, kSeenByNone);
  const Tensor none = blocks.lt(0).repeat_interleave(size, 2).unsqueeze(0);
  const Tensor at_keys = gather_met(keys, blocks, call.q.sym_size(1)).masked_fill(none, kSeenByNone).unsqueeze(3);
  const Tensor at_queries =
      cut_into_blocks(positions(call.query_positions, call.q.sym_size(2)), 2, size, 0).unsqueeze(4);
  const Tensor ahead = at_keys - at_queries;
  const Tensor in_range = ahead.ge(call.least).logical_and(ahead.le(call.most)).logical_and(at_keys.ge(0));
  return {in_range.logical_or(at_keys.eq(kSeenByAll)), ahead.eq(0)};
}

BlockOutputs block_attention_composite(const BlockOperands& call) {
  check_block_operands(call);
  const Tensor &q = call.q, &k = call.k, &v = call.v, &blocks = call.blocks;
  const auto wide = c10::promoteTypes(q.scalar_type(), at::kFloat);
  const auto blocked = [&](const Tensor& x) { return cut_into_blocks(x.to(wide), 2, call.block_size, 0); };
  const auto heads = q.sym_size(1), queries = q.sym_size(2);
  if (is_size(queries, 0) || is_size(k.sym_size(2), 0) || is_size(blocks.sym_size(2), 0))
    return {at::zeros_symint({q.sym_size(0), heads, queries, v.sym_size(3)}, q.options()),
            at::full_symint(q.sym_sizes().slice(0, 3), kNothingSeen, q.options().dtype(wide))};
  const Tensor keys = gather_met(blocked(k), blocks, heads), values = gather_met(blocked(v), blocks, heads);
  Tensor scores = at::matmul(blocked(q), keys.transpose(3, 4)) * call.scale;
  const auto [seen, own] = visibility(call);
  if (call.own_last) scores = scores - own * kernels::kOwnPenalty;
  scores = scores.masked_fill(seen.logical_not(), -std::numeric_limits<double>::infinity());
  // Not the rows of −∞ themselves: their softmax is NaN, and its gradient would stay so after a `where`.
  const Tensor none = seen.any(-1, /*keepdim=*/true).logical_not();
  scores = scores.masked_fill(none, 0);
  const Tensor sums = scores.logsumexp(-1).masked_fill(none.squeeze(-1), kNothingSeen);
  const Tensor y = at::matmul(scores.softmax(-1).masked_fill(none, 0), values);
  const auto whole = [&](const Tensor& blocked_rows) {
    const Tensor made = blocked_rows.flatten(2, 3);
    // A program traced on blocks that come out even would serve no others: one row more is there to be left out.
    return (queries.is_symbolic() ? at::cat({made, made.narrow(2, 0, 1)}, 2) : made).narrow_symint(2, 0, queries);
  };
  // The heads of a token side by side in memory, as the fused form writes them.
  return {whole(y).to(q.scalar_type()).transpose(1, 2).contiguous().transpose(1, 2), whole(sums).contiguous()};
}

// --- CPU -------------------------------------------------------------------------------------------------------------

// As the kernels read the operands.
BlockAttentionCall block_call(const BlockOperands& call) {
  const int64_t batch = call.q.size(0), heads = call.q.size(1);
  // Kernels read rows: their last dimension lies dense, whatever is before it.
  const auto dense = [](const Tensor& x) { return x.stride(-1) == 1 || x.size(-1) <= 1 ? x : x.contiguous(); };
  // One context for all samples is read by each of them.
  const auto own = [&](const Tensor& x) { return dense(x).expand({batch, -1, -1, -1}); };
  const auto positions = [&](const OptionalTensor& given) {
    return given ? given->expand({batch, heads, -1}) : Tensor();
  };
  return {dense(call.q),
          own(call.k),
          own(call.v),
          call.blocks.contiguous(),
          call.block_size,
          call.scale,
          {positions(call.query_positions), positions(call.key_positions), call.least, call.most, call.own_last}};
}

BlockOutputs block_attention_cpu(const BlockOperands& call) {
  if (fused_on(call.q) != FusedOn::cpu) return block_attention_composite(call);
  check_block_operands(call);
  const auto [output, sums] = block_attention_forward(block_call(call));
  return {output, sums};
}

BlockGradients block_attention_backward_cpu(const BlockGradientOperands& call) {
  check_fused_on_cpu("block_attention", fused_on(call.q));
  check_block_gradient(call);
  const auto gradients =
      block_attention_gradients(block_call(call.forward()), call.grad, call.grad_sums, {call.output, call.sums});
  return {gradients.q, gradients.k, gradients.v};
}

// --- shapes ----------------------------------------------------------------------------------------------------------

BlockOutputs block_attention_meta(const BlockOperands& call) {
  check_block_operands(call);
  const auto wide = c10::promoteTypes(call.q.scalar_type(), at::kFloat);
  return {empty_side_by_side(call.q, call.q.sym_size(2), call.v.sym_size(3)),
          at::empty_symint(call.q.sym_sizes().slice(0, 3), call.q.options().dtype(wide))};
}

BlockGradients block_attention_backward_meta(const BlockGradientOperands& call) {
  check_block_gradient(call);
  const auto like = [&](const Tensor& x) { return empty_side_by_side(call.q, x.sym_size(2), x.sym_size(3)); };
  return {like(call.q), like(call.k), like(call.v)};
}

// --- gradient --------------------------------------------------------------------------------------------------------

BlockOutputs call_block_attention(const BlockOperands& call) {
  static const auto op = operator_handle<BlockForms::Signature>("cachet::block_attention");
  return BlockForms::call(op, call);
}

struct BlockAttention : torch::autograd::Function<BlockAttention> {
  template <class... Operands>
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const Operands&... operands) {
    at::AutoDispatchBelowADInplaceOrView below;
    const BlockOperands call{operands...};
    const auto [y, sums] = call_block_attention(call);
    ctx->save_for_backward({call.q, call.k, call.v, call.blocks, or_undefined(call.query_positions),
                            or_undefined(call.key_positions), y, sums});
    ctx->saved_data["block_size"] = call.block_size;
    ctx->saved_data["scale"] = call.scale;
    ctx->saved_data["least"] = call.least;
    ctx->saved_data["most"] = call.most;
    ctx->saved_data["own_last"] = call.own_last;
    ctx->set_materialize_grads(true);
    return {y, sums};
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    static const auto op = operator_handle<BlockGradientForms::Signature>("cachet::block_attention_backward");
    const auto saved = ctx->get_saved_variables();
    const auto& data = ctx->saved_data;
    const auto [dq, dk, dv] =
        op.call(grads[0], grads[1], saved[0], saved[1], saved[2], saved[3], data.at("block_size").toInt(),
                data.at("scale").toDouble(), as_optional(saved[4]), as_optional(saved[5]), data.at("least").toInt(),
                data.at("most").toInt(), data.at("own_last").toBool(), saved[6], saved[7]);
    torch::autograd::variable_list all{dq, dk, dv};
    all.resize(11);
    return all;
  }
};

BlockOutputs block_attention_autograd(const BlockOperands& call) {
  if (fused_on(call.q, "block_attention") == FusedOn::none) return block_attention_composite(call);
  check_block_operands(call);
  // What all samples share is expanded here, where autograd sums its gradient up.
  const auto own = [&](const Tensor& x) { return x.expand_symint({call.q.sym_size(0), -1, -1, -1}); };
  BlockOperands expanded = call;
  expanded.k = own(call.k), expanded.v = own(call.v);
  const auto out = expanded.list([](const auto&... operands) { return BlockAttention::apply(operands...); });
  return {out[0], out[1]};
}

}  // namespace

BlockAttended block_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& blocks,
                              int64_t block_size, double scale, const KeysSeen& seen) {
  const auto [output, sums] =
      call_block_attention({q, k, v, blocks, block_size, scale, as_optional(seen.query_positions),
                            as_optional(seen.key_positions), seen.least, seen.most, seen.own_last});
  return {output, sums};
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m,
           "block_attention(Tensor q, Tensor k, Tensor v, Tensor blocks, int block_size, float scale, "
           "Tensor? query_positions=None, Tensor? key_positions=None, int least=-1073741824, int most=1073741824, "
           "bool own_last=False) -> (Tensor, Tensor)")
      .composite(BlockForms::form<block_attention_composite>)
      .cpu(BlockForms::form<block_attention_cpu>)
      .meta(BlockForms::form<block_attention_meta>)
      .autograd(BlockForms::form<block_attention_autograd>)
      .autocast<&BlockForms::form<call_block_attention>, 0, 1, 2>();
  Operator(m,
           "block_attention_backward(Tensor grad, Tensor grad_logsumexp, Tensor q, Tensor k, Tensor v, Tensor blocks, "
           "int block_size, float scale, Tensor? query_positions, Tensor? key_positions, int least, int most, "
           "bool own_last, Tensor output, Tensor logsumexp) -> (Tensor, Tensor, Tensor)")
      .cpu(BlockGradientForms::form<block_attention_backward_cpu>)
      .meta(BlockGradientForms::form<block_attention_backward_meta>)
      .without_gradient("block_attention", kFusedOnce);
}

}  // namespace cachet::ops
