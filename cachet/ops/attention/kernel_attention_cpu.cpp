#include "cachet/ops/attention/kernel_attention_cpu.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "cachet/kernels/attention_rows.h"
#include "cachet/ops/attention/kernel_attention_blocks.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;

// --- what both passes use --------------------------------------------------------------------------------------------

/// A thread's part of a pass: what it reads, and the numbers that it reuses from head to head.
struct PassTask {
  PassTask(const KernelAttentionCall& call, const KernelBlocks& blocks, const std::vector<Tensor>& weights)
      : call(call),
        blocks(blocks),
        queries(weights, call.units, call.q.size(3), blocks.block, blocks.features),
        keys(weights, call.units, call.k.size(3), blocks.block, blocks.features),
        values(blocks.block, blocks.width + 1),
        state(blocks.width + 1, blocks.features),
        meetings(kInner, kInner),
        before(blocks) {}

  const KernelAttentionCall& call;
  const KernelBlocks& blocks;
  BlockFeatures queries, keys;
  RowBuffer values, state, meetings;
  InnerSums before;
  BlockProduct product;
};

// --- forward ---------------------------------------------------------------------------------------------------------

template <class T>
class ForwardTask : PassTask {
 public:
  ForwardTask(const KernelAttentionCall& call, const KernelBlocks& blocks, const std::vector<Tensor>& weights)
      : PassTask(call, blocks, weights),
        totals_(blocks.block, blocks.width),
        totals_of_ones_(blocks.block, 1),
        across_(blocks.features, blocks.width) {}

  void run(int64_t task, const KernelAttended& out) {
    const KernelHead<T> head(call, blocks, task);
    y_ = one_head<T>(out.output, task);
    divisors_ = mutable_data<float>(out.divisors) + task * blocks.queries;
    float* states = mutable_data<float>(out.states) + task * out.states.size(2) * blocks.features;
    if (call.causal)
      causal(head, states);
    else
      bidirectional(head, states);
  }

 private:
  void bidirectional(const KernelHead<T>& head, float* states) {
    const Matrix state = Matrix::dense(states, blocks.width + 1, blocks.features);
    clear_sums(state);
    blocks.for_each(blocks.keys, [&](BlockRows rows) {
      const Matrix features = keys.compute(head.k, head.number, rows, head.padding_of(rows));
      load_values(head, rows, values);
      product(state, values.matrix().t(), features, /*add=*/true);
    });
    across_.transpose(numerators(state));
    blocks.for_each(blocks.queries, [&](BlockRows rows) {
      const Matrix features = queries.compute(head.q, head.number, rows, nullptr);
      product(totals_.matrix(), features, across_.matrix());
      kernels::dot_rows(features.data, denominators(state), /*add=*/false, totals_of_ones_.data(), shape_of(features));
      divide(rows);
    });
  }

  void causal(const KernelHead<T>& head, float* stored) {
    clear_sums(state.matrix());
    blocks.for_each(blocks.queries, [&](BlockRows rows) {
      const Matrix q = queries.compute(head.q, head.number, rows, nullptr);
      const Matrix k = keys.compute(head.k, head.number, rows, head.padding_of(rows));
      load_values(head, rows, values);
      stored = std::copy_n(state.data(), (blocks.width + 1) * blocks.features, stored);
      before.before(
          product, state.matrix(), [&](int64_t i) { return values.rows(i * kInner, kInner); },
          [&](int64_t i) { return k.block_of_rows(i * kInner, kInner); });
      for (int64_t first = 0, i = 0; first < rows.count; first += kInner, ++i) {
        const Matrix own = q.block_of_rows(first, kInner), totals = totals_.rows(first, kInner);
        product(meetings.matrix(), own, k.block_of_rows(first, kInner).t());
        kernels::clear_above_diagonal(meetings.data(), kInner);
        product(totals, own, numerators(before[i]).t());
        product(totals, meetings.matrix(), values.rows(first, kInner).block_of_columns(0, blocks.width),
                /*add=*/true);
        float* of_ones = totals_of_ones_.rows(first, kInner).data;
        kernels::dot_rows(own.data, denominators(before[i]), /*add=*/false, of_ones, shape_of(own));
        kernels::dot_rows(meetings.data(), nullptr, /*add=*/true, of_ones, shape_of(meetings.matrix()));
      }
      divide(rows);
    });
  }

  void clear_sums(const Matrix& sums) const {
    float* ones = std::fill_n(sums.data, (sums.rows - 1) * sums.columns, 0.0f);
    std::fill_n(ones, sums.columns, static_cast<float>(call.key_eps));
  }

  void divide(BlockRows rows) {
    const HeadRows<T> y = y_.block(rows);
    kernels::divide_totals(totals_.data(), totals_of_ones_.data(), static_cast<float>(call.eps), y.data,
                           divisors_ + rows.first, {rows.count, blocks.width, y.stride});
  }

  HeadRows<T> y_{};
  float* divisors_ = nullptr;
  RowBuffer totals_, totals_of_ones_, across_;
};

// --- backward --------------------------------------------------------------------------------------------------------
// With totals t_i = Sφ(q_i) and their gradient τ_i, and D = Σ_i τ_i φ(q_i)ᵀ over the queries that see key j:
//   ∂φ(q_i) = Sᵀτ_i,  ∂φ(k_j) = Dᵀ[v_j, 1],  ∂v_j = Dφ(k_j), without the row of ones

template <class T>
class BackwardTask : PassTask {
 public:
  BackwardTask(const KernelAttentionCall& call, const KernelBlocks& blocks, const std::vector<Tensor>& weights)
      : PassTask(call, blocks, weights),
        d_totals_(blocks.block, blocks.width + 1),
        d_values_(blocks.block, blocks.width),
        d_queries_(blocks.block, blocks.features),
        d_keys_(blocks.block, blocks.features),
        d_state_(blocks.width + 1, blocks.features),
        d_across_(blocks.features, blocks.width),
        d_meetings_(kInner, kInner),
        behind_(blocks) {}

  /// d_weights: of this task, zero before.
  void run(int64_t task, const Tensor& grad, const KernelAttended& forward, const KernelAttentionGradients& out,
           const std::vector<Matrix>& d_weights) {
    const KernelHead<T> head(call, blocks, task);
    d_weights_ = d_weights;
    dq_ = one_head<T>(out.q, task), dk_ = one_head<T>(out.k, task), dv_ = one_head<T>(out.v, task);
    grad_ = one_head<T>(grad, task), y_ = one_head<T>(forward.output, task);
    divisors_ = data<float>(forward.divisors) + task * blocks.queries;
    d_state_.clear_from(0);
    const int64_t stored = forward.states.size(2) / (blocks.width + 1);
    float* states = const_cast<float*>(data<float>(forward.states)) + task * stored * state_size();  // to be read
    if (call.causal)
      causal(head, states, stored);
    else
      bidirectional(head, states);
  }

 private:
  int64_t state_size() const { return (blocks.width + 1) * blocks.features; }

  void bidirectional(const KernelHead<T>& head, float* states) {
    const Matrix state = Matrix::dense(states, blocks.width + 1, blocks.features);
    blocks.for_each(blocks.queries, [&](BlockRows rows) {
      const Matrix features = queries.compute(head.q, head.number, rows, nullptr);
      undivide(rows);
      product(d_state_.matrix(), d_totals_.matrix().t(), features, /*add=*/true);
      product(d_queries_.matrix(), d_totals_.matrix(), state);
      queries.backward(d_queries_.matrix(), dq_, d_weights_);
    });
    d_across_.transpose(numerators(d_state_.matrix()));
    blocks.for_each(blocks.keys, [&](BlockRows rows) {
      const Matrix features = keys.compute(head.k, head.number, rows, head.padding_of(rows));
      load_values(head, rows, values);
      product(d_keys_.matrix(), values.matrix(), d_state_.matrix());
      product(d_values_.matrix(), features, d_across_.matrix());
      finish_keys(head, rows);
    });
  }

  // From the last block to the first, so that the gradient of each block's sums is there when its keys are reached.
  void causal(const KernelHead<T>& head, const float* states, int64_t stored) {
    for (int64_t number = stored; number-- > 0;) {
      const int64_t first_row = number * blocks.block;
      const BlockRows rows{first_row, std::min(blocks.block, blocks.queries - first_row)};
      const Matrix q = queries.compute(head.q, head.number, rows, nullptr);
      const Matrix k = keys.compute(head.k, head.number, rows, head.padding_of(rows));
      load_values(head, rows, values);
      undivide(rows);
      std::copy_n(states + number * state_size(), state_size(), state.data());
      before.before(
          product, state.matrix(), [&](int64_t i) { return values.rows(i * kInner, kInner); },
          [&](int64_t i) { return k.block_of_rows(i * kInner, kInner); });
      behind_.behind(
          product, d_state_.matrix(), [&](int64_t i) { return d_totals_.rows(i * kInner, kInner); },
          [&](int64_t i) { return q.block_of_rows(i * kInner, kInner); });
      for (int64_t first = 0, i = 0; first < rows.count; first += kInner, ++i) meet(q, k, first, i);
      queries.backward(d_queries_.matrix(), dq_, d_weights_);
      finish_keys(head, rows);
    }
  }

  // Gradients of kInner queries and keys, which meet one by one and meet all others through sums.
  void meet(const Matrix& all_q, const Matrix& all_k, int64_t first, int64_t i) {
    const Matrix q = all_q.block_of_rows(first, kInner), k = all_k.block_of_rows(first, kInner);
    const Matrix v = values.rows(first, kInner), d_totals = d_totals_.rows(first, kInner);
    const Matrix d_queries = d_queries_.rows(first, kInner), d_keys = d_keys_.rows(first, kInner);
    const Matrix d_values = d_values_.rows(first, kInner);
    product(meetings.matrix(), q, k.t());
    kernels::clear_above_diagonal(meetings.data(), kInner);
    product(d_meetings_.matrix(), d_totals, v.t());
    kernels::clear_above_diagonal(d_meetings_.data(), kInner);
    product(d_queries, d_totals, before[i]);
    product(d_queries, d_meetings_.matrix(), k, /*add=*/true);
    product(d_keys, v, behind_[i]);
    product(d_keys, d_meetings_.matrix().t(), q, /*add=*/true);
    product(d_values, k, numerators(behind_[i]).t());
    product(d_values, meetings.matrix().t(), d_totals.block_of_columns(0, blocks.width), /*add=*/true);
  }

  void undivide(BlockRows rows) {
    const HeadRows<T> y = y_.block(rows), grad = grad_.block(rows);
    kernels::divide_totals_backward(y.data, divisors_ + rows.first, grad.data, grad.stride, d_totals_.data(),
                                    {rows.count, blocks.width, y.stride});
    d_totals_.clear_from(rows.count);
  }

  void finish_keys(const KernelHead<T>& head, BlockRows rows) {
    const bool* padding = head.padding_of(rows);
    for (int64_t row = 0; padding && row < rows.count; ++row)
      if (padding[row]) std::fill_n(d_keys_.rows(row, 1).data, blocks.features, 0.0f);
    keys.backward(d_keys_.matrix(), dk_, d_weights_);
    store_rows(d_values_.matrix(), dv_.block(rows));
  }

  RowBuffer d_totals_, d_values_, d_queries_, d_keys_, d_state_, d_across_, d_meetings_;
  InnerSums behind_;
  std::vector<Matrix> d_weights_;
  HeadRows<T> dq_{}, dk_{}, dv_{}, grad_{}, y_{};
  const float* divisors_ = nullptr;
};

// As products read them.
std::vector<Tensor> float_weights(const KernelAttentionCall& call) {
  std::vector<Tensor> weights;
  for (const Tensor& weight : call.weights) weights.push_back(weight.to(at::kFloat).contiguous());
  return weights;
}

}  // namespace

int64_t KernelAttentionCall::features() const { return features_of(q.size(3), weights, units); }

c10::SymDimVector sizes_of_states(const Tensor& q, const Tensor& v, bool causal, const c10::SymInt& features) {
  // Shorter sequences have shorter blocks, and are one block all the same.
  const auto stored = causal ? chunks_of(q.sym_size(2), kBlock) : c10::SymInt(1);
  return {q.sym_size(0), q.sym_size(1), stored * (v.sym_size(3) + 1), features};
}

KernelAttended kernel_attention_forward(const KernelAttentionCall& call) {
  const KernelBlocks blocks(call);
  const auto floats = call.q.options().dtype(at::kFloat);
  const KernelAttended out{empty_side_by_side(call.q, blocks.queries, blocks.width),
                           at::empty_symint(sizes_of_states(call.q, call.v, call.causal, blocks.features), floats),
                           at::empty({call.q.size(0), blocks.heads, blocks.queries}, floats)};
  const std::vector<Tensor> weights = float_weights(call);
  for_type_of(call.q, [&]<class T>(T*) {
    at::parallel_for(0, blocks.tasks, 1, [&](int64_t from, int64_t to) {
      ForwardTask<T> forward(call, blocks, weights);
      for (int64_t task = from; task < to; ++task) forward.run(task, out);
    });
  });
  return out;
}

KernelAttentionGradients kernel_attention_backward(const KernelAttentionCall& call, const Tensor& grad,
                                                   const KernelAttended& forward) {
  const KernelBlocks blocks(call);
  KernelAttentionGradients out{empty_side_by_side(call.q, blocks.queries, call.q.size(3)),
                               empty_side_by_side(call.k, blocks.keys, call.k.size(3)),
                               empty_side_by_side(call.v, blocks.keys, blocks.width),
                               {}};
  // One sum a head of a sample, added up in their order: the result does not depend on the number of threads.
  std::vector<Tensor> parts;
  for (const Tensor& weight : call.weights)
    parts.push_back(at::zeros({blocks.tasks, weight.size(1), weight.size(2)}, call.q.options().dtype(at::kFloat)));
  const auto part_of = [](const Tensor& all, int64_t task) {
    const int64_t rows = all.size(1), columns = all.size(2);
    return Matrix::dense(mutable_data<float>(all) + task * rows * columns, rows, columns);
  };
  const std::vector<Tensor> weights = float_weights(call);
  const auto dense_rows = [](const Tensor& x) { return x.stride(3) == 1 ? x : x.contiguous(); };
  const Tensor dy = dense_rows(grad);
  const KernelAttended read{dense_rows(forward.output), forward.states.contiguous(), forward.divisors.contiguous()};
  for_type_of(call.q, [&]<class T>(T*) {
    at::parallel_for(0, blocks.tasks, 1, [&](int64_t from, int64_t to) {
      BackwardTask<T> backward(call, blocks, weights);
      for (int64_t task = from; task < to; ++task) {
        std::vector<Matrix> own;
        for (const Tensor& part : parts) own.push_back(part_of(part, task));
        backward.run(task, dy, read, out, own);
      }
    });
  });
  for (size_t i = 0; i < parts.size(); ++i) {
    const Tensor& weight = call.weights[i];
    const Tensor by_head = parts[i].view({call.q.size(0), blocks.heads, weight.size(1), weight.size(2)});
    const Tensor sum = weight.size(0) == 1 ? by_head.sum(at::IntArrayRef({0, 1})).unsqueeze(0) : by_head.sum(0);
    out.weights.push_back(sum.to(weight.scalar_type()));
  }
  return out;
}

}  // namespace cachet::ops
