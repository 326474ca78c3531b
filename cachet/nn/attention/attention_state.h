#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cachet::nn {

/// Whose a tensor of a stream's state is.
enum class StateOwner {
  batch_rows,  // the lanes of the batch are its first dimension
  shared,      // one for all lanes, with 1 as its first dimension
  either,      // one for each group of lanes that follow each other, all groups of one size: lanes, shared or between
  lanes [[deprecated("batch_rows")]] = batch_rows
};

/// What one attention layer remembers of a stream (keys and values, running sums, per-lane caches), held by the caller.
///
/// Layers declare by name what they may remember when they make the state (Attention::make_state) and write it while
/// the stream runs. A tensor that grows, such as the keys of earlier calls, lies in a larger buffer: without gradients,
/// append() copies only what is new, and the buffer doubles when it is full.
class AttentionState {
 public:
  /// Throws c10::Error for less than one lane.
  explicit AttentionState(int64_t batch_rows);
  AttentionState(const AttentionState&) = delete;  // two states must not append to one buffer: clone()
  AttentionState& operator=(const AttentionState&) = delete;

  int64_t batch_rows() const { return batch_rows_; }
  [[deprecated("batch_rows")]] int64_t lanes() const { return batch_rows_; }
  /// Places of what grows: how many tokens of earlier calls are visible, the same in all layers of a model. 0 where
  /// nothing grows.
  int64_t past() const;

  // --- for layers

  /// Makes a place for a tensor, empty at first.
  void declare(const std::string& name, StateOwner owner);
  /// Makes a place that holds `start`, whose first dimension is the lanes.
  void declare(const std::string& name, const at::Tensor& start);
  /// Makes a place for a tensor that grows along `dim`, of length 0 at first: `start` has 0 there.
  void declare_growing(const std::string& name, const at::Tensor& start, int64_t dim);
  bool declares(const std::string& name) const { return slots_.count(name) > 0; }

  /// What stands at a place; undefined where nothing does, or where there is no such place.
  at::Tensor get(const std::string& name) const;
  /// Throws c10::Error for a place that was not declared, and unless the first dimension is what its owner says.
  void set(const std::string& name, const at::Tensor& tensor);
  /// Adds to the end of a tensor that grows, and returns all of it, before what is beyond keep_last() is dropped. What
  /// it returned before stays as it is.
  at::Tensor append(const std::string& name, const at::Tensor& more);

  /// Cuts the graph behind what stands at a place.
  void detach(const std::string& name);

  /// The state of a layer inside this one, of as many lanes; made when it is asked for the first time.
  AttentionState& part(const std::string& name);
  /// Makes a layer's own state a part. Throws c10::Error unless it has as many lanes.
  void set_part(const std::string& name, std::shared_ptr<AttentionState> part);

  // --- for callers

  /// Makes room for `length` places in all that grows, so that no append() up to there allocates.
  void reserve(int64_t length);

  /// From now on all that grows keeps its last `length` places alone, of those it has and of those to come: a sliding
  /// window of keys, or a memory of fixed length.
  void keep_last(int64_t length);

  /// Makes all that grows at least `length` places long, or as long as keep_last() lets it be, with zeros at its end:
  /// the sizes that the state has after as many tokens. For measurements.
  void fill(int64_t length);

  /// Rearranges the lanes: lane i becomes the former lane rows[i], for as many lanes as there are rows (beam search).
  /// rows (lanes') int64. What is shared stays as it is. BatchRows that stay where they are cost nothing, if nobody
  /// holds what get() or append() returned.
  void reorder(const at::Tensor& rows);
  /// Each lane becomes `copies` lanes that follow each other.
  void replicate(int64_t copies);

  /// Cuts the graph behind all tensors: where truncated back-propagation stops.
  void detach();

  /// A state with the same tensors, which goes on by itself.
  std::shared_ptr<AttentionState> clone() const;

  /// All tensors by path ("memory/cache"), and the number of lanes (`lanes`), for checkpoints.
  std::map<std::string, at::Tensor> named_tensors() const;
  /// Makes this state, which the same layer made, what named_tensors() of another was, for as many lanes as that had.
  /// Throws c10::Error, and changes nothing, where a tensor has no place here, or a place that was never empty none.
  void load(const std::map<std::string, at::Tensor>& tensors);

 private:
  struct Slot {
    StateOwner owner = StateOwner::batch_rows;
    std::optional<int64_t> growing;  // along which dimension
    bool starts_full = false;
    std::optional<int64_t> kept;  // the most entries, of what grows
    at::Tensor tensor;            // undefined while empty
    at::Tensor buffer;            // of what grows: tensor is a part of it,
    int64_t begin = 0;            // from this place on

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
