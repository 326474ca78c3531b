#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace cachet::metrics {

/// Assigns the indices 0, 1, … to distinct keys, in the order in which the keys are added. clear() takes constant time
/// and frees no memory, so that one table can be used again for each sentence.
template <class Key>
class DenseIds {
 public:
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  void clear() {
    ++generation_;
    size_ = 0;
  }
  uint32_t size() const { return size_; }

  /// Returns the index of a key. If the key is new, it gets the next index.
  uint32_t add(const Key& key) {
    if (4 * (static_cast<size_t>(size_) + 1) > 3 * slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
    if (slot.generation != generation_) slot = {key, generation_, size_++};
    return slot.id;
  }
  /// Returns the index of a key, or kNone if the key was not added.
  uint32_t find(const Key& key) const {
    if (size_ == 0) return kNone;
    const Slot& slot = slots_[place_of(key)];
    return slot.generation == generation_ ? slot.id : kNone;
  }

 private:
  struct Slot {
    Key key{};
    uint64_t generation = 0;  // if it is not the current generation, the slot is empty
    uint32_t id = 0;
  };

  static size_t hash(uint64_t key) {  // the finalizer of MurmurHash3 (Appleby, public domain)
    key = (key ^ (key >> 33)) * 0xFF51AFD7ED558CCDu;
    key = (key ^ (key >> 33)) * 0xC4CEB9FE1A85EC53u;
    return key ^ (key >> 33);
  }
  static size_t hash(std::string_view key) { return std::hash<std::string_view>()(key); }

  size_t place_of(const Key& key) const {
    size_t place = hash(key) & (slots_.size() - 1);
    while (slots_[place].generation == generation_ && slots_[place].key != key)
      place = (place + 1) & (slots_.size() - 1);
    return place;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.generation == generation_) slots_[place_of(slot.key)] = slot;
  }

  std::vector<Slot> slots_;  // the number of slots is a power of two; at most three quarters of the slots are used
  uint64_t generation_ = 1;
  uint32_t size_ = 0;
};

}  // namespace cachet::metrics
