#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cachet::nn {

/// The batch rows to which a tensor of a session's state belongs.
enum class StateOwner {
  batch_rows,  // one for each batch row: its first dimension is the batch rows
  shared,      // one for all batch rows, with 1 as its first dimension
  either,      // one for each group of consecutive batch rows; all groups have one size, from one row to all rows
  lanes [[deprecated("batch_rows")]] = batch_rows
};

/// The state of one attention layer in a session (keys and values, running sums, caches of batch rows). The caller
/// holds it.
///
/// Layers declare their tensors by name when they make the state (Attention::make_state), and write them during the
/// session. A tensor that grows, such as the keys of earlier calls, is part of a larger buffer: without gradients,
/// append() copies only new values, and the buffer doubles when it is full.
class AttentionState {
 public:
  /// Throws c10::Error for fewer than one batch row.
  explicit AttentionState(int64_t batch_rows);
  AttentionState(const AttentionState&) = delete;  // two states must not append to one buffer: clone()
  AttentionState& operator=(const AttentionState&) = delete;

  int64_t batch_rows() const { return batch_rows_; }
  [[deprecated("batch_rows")]] int64_t lanes() const { return batch_rows_; }
  /// Returns the length of the growing tensors: the number of visible tokens of earlier calls, which is the same in all
  /// layers of a model. 0 if no tensor grows.
  int64_t past() const;

  // --- for layers

  /// Declares a tensor, empty at first.
  void declare(const std::string& name, StateOwner owner);
  /// Declares a tensor with the first value `start`, whose first dimension is the batch rows.
  void declare(const std::string& name, const at::Tensor& start);
  /// Declares a tensor that grows along `dim` from length 0: `start` has size 0 in that dimension.
  void declare_growing(const std::string& name, const at::Tensor& start, int64_t dim);
  bool declares(const std::string& name) const { return slots_.count(name) > 0; }

  /// Returns the tensor of this name. Undefined if it is empty or not declared.
  at::Tensor get(const std::string& name) const;
  /// Throws c10::Error if the name was not declared, or if the first dimension does not fit its owner.
  void set(const std::string& name, const at::Tensor& tensor);
  /// Appends to a growing tensor, and returns the whole tensor, before values beyond keep_last() are
  /// dropped. Earlier results do not change.
  at::Tensor append(const std::string& name, const at::Tensor& more);

  /// Detaches the tensor of this name from its graph.
  void detach(const std::string& name);

  /// Returns the state of a layer inside this one, with the same number of batch rows. The first call makes it.
  AttentionState& part(const std::string& name);
  /// Makes a layer's own state a part. Throws c10::Error unless it has the same number of batch rows.
  void set_part(const std::string& name, std::shared_ptr<AttentionState> part);

  // --- for callers

  /// Reserves `length` positions in all growing tensors, so that no append() up to that length allocates memory.
  void reserve(int64_t length);

  /// From now on, limits growing tensors to their last `length` positions, present and later ones: a sliding window of
  /// keys, or a memory of fixed length.
  void keep_last(int64_t length);

  /// Extends all growing tensors with zeros to at least `length` positions, or to the limit of keep_last(). The state
  /// then has the sizes that it has after `length` tokens. For measurements.
  void fill(int64_t length);

  /// Reorders the batch rows: row i becomes the former row rows[i] (beam search). rows (new number of rows) int64.
  /// Shared tensors do not change. A row that does not move costs nothing, if no other object holds a result of get()
  /// or append().
  void reorder(const at::Tensor& rows);
  /// Replaces each batch row by `copies` consecutive rows.
  void replicate(int64_t copies);

  /// Detaches all tensors from their graphs: truncated back-propagation stops here.
  void detach();

  /// Returns a state with the same tensors, which is independent from then on.
  std::shared_ptr<AttentionState> clone() const;

  /// Returns all tensors by path ("memory/cache"), and the number of batch rows (`lanes`), for checkpoints.
  std::map<std::string, at::Tensor> named_tensors() const;
  /// Loads named_tensors() of another state that the same layer made, with its number of batch rows. Throws c10::Error,
  /// and changes nothing, if a tensor is not declared here, or if a tensor that began full is missing.
  void load(const std::map<std::string, at::Tensor>& tensors);

 private:
  struct Slot {
    StateOwner owner = StateOwner::batch_rows;
    std::optional<int64_t> growing;  // dimension along which it grows
    bool starts_full = false;
    std::optional<int64_t> kept;  // most entries of a growing tensor
    at::Tensor tensor;            // undefined while empty
    at::Tensor buffer;            // of a growing tensor, which is the part of the buffer
    int64_t begin = 0;            // that begins at this index

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
