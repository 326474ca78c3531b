#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "cachet/io/tensors/torch_files/pickle_cursor.h"
#include "cachet/io/tensors/torch_files/pickle_tree.h"

namespace cachet::io {

/// The stack, marks and memo of a pickle. Taking a value from below the last mark or from an empty stack is an error.
/// Errors name the position of the cursor.
class PickleStack {
 public:
  using Ref = PickleTree::Ref;

  PickleStack(const PickleCursor& cursor, uint64_t most_pushes, uint64_t most_memos)
      : cursor_(cursor), most_pushes_(most_pushes), most_memos_(most_memos) {}

  void push(Ref ref) {
    count_push();
    values_.push_back(ref);
  }
  void mark() {
    count_push();
    marks_.push_back(values_.size());
  }
  Ref top() const {
    require(1);
    return values_.back();
  }
  Ref pop() { return pop_last(1)[0]; }
  std::vector<Ref> pop_last(size_t count) {
    require(count);
    return pop_from(values_.size() - count);
  }
  std::vector<Ref> pop_to_mark() {
    if (marks_.empty()) cursor_.fail("refers to a mark that does not exist");
    const size_t from = marks_.back();
    marks_.pop_back();
    return pop_from(from);
  }
  /// Whether the stack has exactly one value and no mark, as it must have at the end of a pickle.
  bool is_settled() const { return marks_.empty() && values_.size() == 1; }

  void put(uint32_t memo) {
    if (memos_.size() > most_memos_) cursor_.fail("has more than " + std::to_string(most_memos_) + " memo entries");
    memos_[memo] = top();
  }
  void put_next() { put(static_cast<uint32_t>(memos_.size())); }
  void get(uint32_t memo) {
    const auto found = memos_.find(memo);
    if (found == memos_.end()) cursor_.fail("reads memo entry " + std::to_string(memo) + ", which is not set");
    push(found->second);
  }

 private:
  void count_push() {
    if (++pushes_ > most_pushes_) cursor_.fail("has more than " + std::to_string(most_pushes_) + " steps");
  }
  void require(size_t count) const {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (values_.size() - floor < count) cursor_.fail("takes more values from the stack than it has");
  }
  std::vector<Ref> pop_from(size_t from) {
    const auto first = values_.begin() + static_cast<std::ptrdiff_t>(from);
    std::vector<Ref> popped(first, values_.end());
    values_.erase(first, values_.end());
    return popped;
  }

  const PickleCursor& cursor_;
  uint64_t most_pushes_, most_memos_, pushes_ = 0;
  std::vector<Ref> values_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, Ref> memos_;
};

}  // namespace cachet::io
