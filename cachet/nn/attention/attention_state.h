#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cachet::nn {

/// Whether a tensor of a session's state has an entry for each batch row, or one entry for all batch rows.
enum class StateOwner {
  batch_rows,  // one entry for each batch row
  shared,      // one entry, which all batch rows share
  either,      // one entry for each group of consecutive batch rows; all groups have the same size
  lanes [[deprecated("batch_rows")]] = batch_rows
};

/// The state of one attention layer in a session (keys and values, running sums, caches of batch rows). The caller of
/// the layer owns the state.
///
/// Layers declare tensors by name when they make the state (Attention::make_state), and write the tensors during the
/// session. A growing tensor, such as the keys of earlier calls, is part of a larger buffer: without gradients,
/// append() copies only the new values, and the buffer doubles when it is full.
class AttentionState {
 public:
  /// Throws c10::Error if `batch_rows` is below 1.
  explicit AttentionState(int64_t batch_rows);
  AttentionState(const AttentionState&) = delete;  // two states must not append to the same buffer; use clone()
  AttentionState& operator=(const AttentionState&) = delete;

  int64_t batch_rows() const { return batch_rows_; }
  [[deprecated("batch_rows")]] int64_t lanes() const { return batch_rows_; }
  /// Returns the length of the growing tensors, or 0 if no tensor grows. The length of the growing tensors is the
  /// number of visible tokens of earlier calls. The length of the growing tensors is the same in all layers of a model.
  int64_t past() const;

  // --- The following functions are for layers.

  /// Declares a tensor. A declared tensor is empty until it is set.
  void declare(const std::string& name, StateOwner owner);
  /// Declares a tensor with the initial value `start`. The first dimension of `start` counts the batch rows.
  void declare(const std::string& name, const at::Tensor& start);
  /// Declares a tensor that grows along `dim`. In dimension `dim`, `start` has the size 0.
  void declare_growing(const std::string& name, const at::Tensor& start, int64_t dim);
  bool declares(const std::string& name) const { return slots_.count(name) > 0; }

  /// Returns the tensor with the name `name`, or an undefined tensor if that tensor is empty or not declared.
  at::Tensor get(const std::string& name) const;
  /// Sets a tensor. Throws c10::Error if `name` is not declared, or if the first dimension does not fit the StateOwner.
  void set(const std::string& name, const at::Tensor& tensor);
  /// Appends `more` to a growing tensor. Returns the whole tensor, even if keep_last() afterwards drops values beyond
  /// its limit. Later calls do not change the tensors that append() returned earlier.
  at::Tensor append(const std::string& name, const at::Tensor& more);

  /// Detaches the tensor with the name `name` from its autograd graph.
  void detach(const std::string& name);

  /// Returns the state of a part of the layer, with the same number of batch rows. The first call with the name of a
  /// part creates the state of this part.
  AttentionState& part(const std::string& name);
  /// Adds the state of the layer's part `name`. Throws c10::Error if the part and the layer have different numbers of
  /// batch rows.
  void set_part(const std::string& name, std::shared_ptr<AttentionState> part);

  // --- The following functions are for the callers of layers.

  /// Reserves memory for `length` positions in all growing tensors. While the growing tensors have at most `length`
  /// positions, append() allocates no memory.
  void reserve(int64_t length);

  /// Limits all growing tensors to their last `length` positions, now and in later calls: a sliding window of keys,
  /// or a memory of fixed length.
  void keep_last(int64_t length);

  /// Extends all growing tensors with zeros to at least `length` positions, or to the limit of keep_last(). After the
  /// call, the tensors are as long as in a session that has read `length` tokens. Measurements use this function.
  void fill(int64_t length);

  /// Reorders the batch rows, for beam search: row i becomes the former row rows[i]. rows (new number of rows) int64.
  /// A tensor that all batch rows share (StateOwner::shared) is not reordered. Batch rows that keep their position are
  /// not copied, unless another object holds a result of get() or append().
  void reorder(const at::Tensor& rows);
  /// Replaces each batch row by `copies` consecutive copies of the row.
  void replicate(int64_t copies);

  /// Detaches all tensors from their graphs, so that back-propagation stops at these tensors.
  void detach();

  /// Returns pointers to all tensors of the state, in a fixed order; a tensor may be undefined. The caller may replace
  /// a tensor by a tensor of the same sizes. Growing tensors lose the memory that reserve() made for them.
  std::vector<at::Tensor*> tensors();

  /// Returns an independent copy of the state. Later changes of the state or of the copy do not affect the other one.
  std::shared_ptr<AttentionState> clone() const;

  /// Returns all tensors by path ("memory/cache"), and the number of batch rows (`lanes`), for checkpoints.
  std::map<std::string, at::Tensor> named_tensors() const;
  /// Loads the result of named_tensors() of another state of this layer, including the number of batch rows. If the
  /// state has not declared one of the tensors, or if a tensor with an initial value is missing, throws c10::Error and
  /// changes nothing.
  void load(const std::map<std::string, at::Tensor>& tensors);

 private:
  struct Slot {
    StateOwner owner = StateOwner::batch_rows;
    std::optional<int64_t> growing;  // dimension along which `tensor` grows; nullopt if it does not grow
    bool starts_full = false;
    std::optional<int64_t> kept;  // maximum length of a growing tensor (keep_last())
    at::Tensor tensor;            // undefined while empty
    at::Tensor buffer;            // memory of a growing tensor; `tensor` is a part of it
    int64_t begin = 0;            // index in `buffer` where `tensor` begins

    void check(const std::string& name, const at::Tensor& value, int64_t batch_rows) const;
    void make_room(int64_t length);
    void hold(const at::Tensor& whole);
    void leave_buffer();
    void take_rows(const std::vector<int64_t>& rows);
  };

  Slot& slot(const std::string& name);
  void check_load(const std::map<std::string, at::Tensor>& tensors, const std::string& prefix, int64_t batch_rows,
                  size_t& found) const;
  void take(const std::map<std::string, at::Tensor>& tensors, const std::string& prefix, int64_t batch_rows);
  void collect(const std::string& prefix, std::map<std::string, at::Tensor>& all) const;

  int64_t batch_rows_;
  std::map<std::string, Slot> slots_;
  std::map<std::string, std::shared_ptr<AttentionState>> parts_;
};

}  // namespace cachet::nn
