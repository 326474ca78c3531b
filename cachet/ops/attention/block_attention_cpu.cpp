#include "cachet/ops/attention/block_attention_cpu.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "cachet/kernels/block_softmax.h"
#include "cachet/kernels/transpose.h"
#include "cachet/ops/attention/head_rows.h"
#include "cachet/ops/linear/block_product.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;

void clear(const Matrix& x) {
  for (int64_t row = 0; row < x.rows; ++row) std::fill_n(x.data + row * x.row_stride, x.columns, 0.0f);
}

/// What a head's tasks share: its operands, and which keys each block of queries meets.
template <class T>
class HeadTask {
 public:
  explicit HeadTask(const BlockAttentionCall& call)
      : call_(call),
        size_(call.block_size),
        queries_(call.q.size(2)),
        keys_(call.k.size(2)),
        width_(call.blocks.size(2) * size_),
        scores_(static_cast<size_t>(size_ * width_)),
        met_positions_(static_cast<size_t>(width_)) {}

 protected:
  /// Neighbouring blocks of keys that one block of queries meets: keys [first, first + count), whose scores stand in
  /// the columns from `column` on.
  struct Run {
    int64_t first, count, column;
  };

  void load(int64_t task) {
    q_ = float_rows(one_head<T>(call_.q, task), q_scratch_);
    k_ = float_rows(one_head<T>(call_.k, task), k_scratch_);
    v_ = float_rows(one_head<T>(call_.v, task), v_scratch_);
    k_across_rows_ = transposed(k_, k_across_);
    const auto narrow = [task](const Tensor& positions, int64_t length, std::vector<int32_t>& to) {
      to.resize(static_cast<size_t>(length));
      const Tensor row = positions.defined()
                             ? positions.select(0, task / positions.size(1)).select(0, task % positions.size(1))
                             : Tensor();
      for (int64_t i = 0; i < length; ++i)
        to[static_cast<size_t>(i)] =
            static_cast<int32_t>(row.defined() ? row.const_data_ptr<int64_t>()[i * row.stride(0)] : i);
    };
    has_positions_ = call_.seen.key_positions.defined() || call_.seen.own_last ||
                     call_.seen.least > -KeysSeen::kUnbounded || call_.seen.most < KeysSeen::kUnbounded;
    if (has_positions_) {
      narrow(call_.seen.query_positions, queries_, query_positions_);
      narrow(call_.seen.key_positions, keys_, key_positions_);
    }
    const int64_t head = call_.blocks.size(0) == 1 ? 0 : task % call_.q.size(1);
    blocks_ = call_.blocks.const_data_ptr<int64_t>() + head * call_.blocks.size(1) * call_.blocks.size(2);
  }

  /// x (L, n) as (n, L).
  static Matrix transposed(const Matrix& x, std::vector<float>& scratch) {
    const Matrix across = scratch_rows(scratch, x.columns, x.rows);
    kernels::transpose(x.data, x.row_stride, across.data, across.row_stride, x.rows, x.columns);
    return across;
  }

  BlockRows rows_of(int64_t block) const { return {block * size_, std::min(size_, queries_ - block * size_)}; }

  /// Reads what a block of queries meets. A short last block of keys comes last, so that seen columns are contiguous.
  void meet(int64_t block) {
    const int64_t count = call_.blocks.size(2), last = chunks_of(keys_, size_) - 1;
    runs_.clear();
    columns_ = 0;
    int64_t shorts = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t key_block = blocks_[block * count + i];
      if (key_block < 0) continue;
      if (key_block == last && keys_ % size_ != 0)
        ++shorts;
      else
        add_run(key_block * size_, size_);
    }
    for (; shorts > 0; --shorts) add_run(last * size_, keys_ % size_);
    if (!has_positions_) return;
    for (const Run& run : runs_)
      std::copy_n(key_positions_.begin() + run.first, run.count, met_positions_.begin() + run.column);
    seen_ = {query_positions_.data() + block * size_, met_positions_.data(), static_cast<int32_t>(call_.seen.least),
             static_cast<int32_t>(call_.seen.most), call_.seen.own_last};
  }

  Matrix scores(std::vector<float>& of, int64_t rows) { return {of.data(), rows, columns_, width_, 1}; }

  /// left (rows, n) · across (n, L) in the columns of the blocks met.
  void multiply_met(const Matrix& out, const Matrix& left, const Matrix& across) {
    for (const Run& run : runs_)
      product_(out.block_of_columns(run.column, run.count), left, across.block_of_columns(run.first, run.count));
  }

  /// out (rows, n) = left, in the columns of the blocks met, · right (L, n).
  void gather_met(const Matrix& out, const Matrix& left, const Matrix& right) {
    if (runs_.empty()) return clear(out);
    for (const Run& run : runs_)
      product_(out, left.block_of_columns(run.column, run.count), right.block_of_rows(run.first, run.count),
               /*add=*/&run != runs_.data());
  }

  const kernels::SeenKeys* seen() const { return has_positions_ ? &seen_ : nullptr; }
  kernels::ScoreRows shape(int64_t rows) const { return {rows, columns_, width_}; }
  float scale() const { return static_cast<float>(call_.scale); }

  const BlockAttentionCall& call_;
  int64_t size_, queries_, keys_, width_, columns_ = 0;
  Matrix q_{}, k_{}, v_{}, k_across_rows_{};
  std::vector<float> q_scratch_, k_scratch_, v_scratch_, k_across_, scores_;
  std::vector<Run> runs_;
  BlockProduct product_;

 private:
  void add_run(int64_t first, int64_t count) {
    if (!runs_.empty() && runs_.back().first + runs_.back().count == first && count == size_)
      runs_.back().count += count;
    else
      runs_.push_back({first, count, columns_});
    columns_ += count;
  }

  bool has_positions_ = false;
  std::vector<int32_t> query_positions_, key_positions_, met_positions_;
  kernels::SeenKeys seen_{};
  const int64_t* blocks_ = nullptr;
};

template <class T>
class BlockForward : HeadTask<T> {
  using Base = HeadTask<T>;

 public:
  explicit BlockForward(const BlockAttentionCall& call) : Base(call) {}

  void run(int64_t task, const BlockAttended& out) {
    this->load(task);
    const HeadRows<T> y = one_head<T>(out.output, task);
    float* sums = mutable_data<float>(out.logsumexp) + task * this->queries_;
    for (int64_t block = 0; block < this->call_.blocks.size(1); ++block) {
      const BlockRows rows = this->rows_of(block);
      this->meet(block);
      const Matrix scores = this->scores(this->scores_, rows.count);
      this->multiply_met(scores, this->q_.block_of_rows(rows.first, rows.count), this->k_across_rows_);
      kernels::block_softmax(scores.data, this->scale(), this->seen(), sums + rows.first, this->shape(rows.count));
      const HeadRows<T> own = y.block(rows);
      const Matrix mixed = made_rows(own, mixed_);
      this->gather_met(mixed, scores, this->v_);
      store_rows(mixed, own);
    }
  }

 private:
  std::vector<float> mixed_;
};

// With weights P, their gradient G = dy·vᵀ and r = Σ dy·y − d(logsumexp) for each row:
//   d(scores) = scale·P(G − r),  dq = d(scores)·k,  dk = d(scores)ᵀ·q,  dv = Pᵀ·dy
template <class T>
class BlockBackward : HeadTask<T> {
  using Base = HeadTask<T>;

 public:
  explicit BlockBackward(const BlockAttentionCall& call)
      : Base(call), d_scores_(this->scores_.size()), offsets_(static_cast<size_t>(call.block_size)) {}

  void run(int64_t task, const Tensor& grad, const Tensor& grad_sums, const BlockAttended& forward,
           const BlockAttentionGradients& out) {
    this->load(task);
    const Matrix v_across = this->transposed(this->v_, v_across_);
    const Matrix dy = float_rows(one_head<T>(grad, task), dy_scratch_);
    const Matrix y = float_rows(one_head<T>(forward.output, task), y_scratch_);
    const float* sums = data<float>(forward.logsumexp) + task * this->queries_;
    const float* d_sums = data<float>(grad_sums) + task * this->queries_;
    const HeadRows<T> dq = one_head<T>(out.q, task), dk = one_head<T>(out.k, task), dv = one_head<T>(out.v, task);
    const Matrix d_keys = made_rows(dk, d_keys_), d_values = made_rows(dv, d_values_);
    clear(d_keys);
    clear(d_values);
    for (int64_t block = 0; block < this->call_.blocks.size(1); ++block) {
      const BlockRows rows = this->rows_of(block);
      this->meet(block);
      const Matrix weights = this->scores(this->scores_, rows.count), d_scores = this->scores(d_scores_, rows.count);
      const Matrix q = this->q_.block_of_rows(rows.first, rows.count), d_out = dy.block_of_rows(rows.first, rows.count);
      this->multiply_met(weights, q, this->k_across_rows_);
      kernels::block_weights(weights.data, this->scale(), this->seen(), sums + rows.first, this->shape(rows.count));
      this->multiply_met(d_scores, d_out, v_across);
      set_offsets(d_out, y.block_of_rows(rows.first, rows.count), d_sums + rows.first);
      kernels::block_softmax_backward(weights.data, offsets_.data(), this->scale(), d_scores.data,
                                      this->shape(rows.count));
      const HeadRows<T> own = dq.block(rows);
      const Matrix d_queries = made_rows(own, d_queries_);
      this->gather_met(d_queries, d_scores, this->k_);
      store_rows(d_queries, own);
      for (const auto& run : this->runs_) {
        const auto met = [&](const Matrix& x) { return x.block_of_columns(run.column, run.count).t(); };
        this->product_(d_keys.block_of_rows(run.first, run.count), met(d_scores), q, /*add=*/true);
        this->product_(d_values.block_of_rows(run.first, run.count), met(weights), d_out, /*add=*/true);
      }
    }
    store_rows(d_keys, dk);
    store_rows(d_values, dv);
  }

 private:
  void set_offsets(const Matrix& d_out, const Matrix& y, const float* d_sums) {
    for (int64_t row = 0; row < y.rows; ++row) {
      float sum = -d_sums[row];
      for (int64_t i = 0; i < y.columns; ++i)
        sum += d_out.data[row * d_out.row_stride + i] * y.data[row * y.row_stride + i];
      offsets_[static_cast<size_t>(row)] = sum;
    }
  }

  std::vector<float> d_scores_, offsets_, d_queries_, d_keys_, d_values_, v_across_, dy_scratch_, y_scratch_;
};

void check_blocks(const BlockAttentionCall& call) {
  const int64_t count = chunks_of(call.k.size(2), call.block_size);
  const int64_t* blocks = call.blocks.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < call.blocks.numel(); ++i)
    TORCH_CHECK_INDEX(blocks[i] >= -1 && blocks[i] < count, "block_attention: each block must be -1 or from 0 to ",
                      count - 1, ", the last block of keys, got ", blocks[i]);
}

}  // namespace

BlockAttended block_attention_forward(const BlockAttentionCall& call) {
  check_blocks(call);
  const BlockAttended out{empty_side_by_side(call.q, call.q.size(2), call.v.size(3)),
                          at::empty(call.q.sizes().slice(0, 3), call.q.options().dtype(at::kFloat))};
  for_type_of(call.q, [&]<class T>(T*) {
    at::parallel_for(0, call.q.size(0) * call.q.size(1), 1, [&](int64_t from, int64_t to) {
      BlockForward<T> forward(call);
      for (int64_t task = from; task < to; ++task) forward.run(task, out);
    });
  });
  return out;
}

BlockAttentionGradients block_attention_gradients(const BlockAttentionCall& call, const Tensor& grad,
                                                  const Tensor& grad_logsumexp, const BlockAttended& forward) {
  const BlockAttentionGradients out{empty_side_by_side(call.q, call.q.size(2), call.q.size(3)),
                                    empty_side_by_side(call.q, call.k.size(2), call.k.size(3)),
                                    empty_side_by_side(call.q, call.v.size(2), call.v.size(3))};
  const auto dense = [](const Tensor& x) { return x.stride(3) == 1 ? x : x.contiguous(); };
  const Tensor dy = dense(grad), d_sums = grad_logsumexp.contiguous();
  const BlockAttended read{dense(forward.output), forward.logsumexp.contiguous()};
  for_type_of(call.q, [&]<class T>(T*) {
    at::parallel_for(0, call.q.size(0) * call.q.size(1), 1, [&](int64_t from, int64_t to) {
      BlockBackward<T> backward(call);
      for (int64_t task = from; task < to; ++task) backward.run(task, dy, d_sums, read, out);
    });
  });
  return out;
}

}  // namespace cachet::ops
