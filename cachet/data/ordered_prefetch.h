#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace cachet::data {

/// Makes the items first … end − 1 on worker threads and returns them in order. At most `ahead` items are in flight.
///
/// Several threads call `produce(number)` at the same time. If there are no workers, next() calls `produce`. If
/// `produce` throws, next() rethrows the exception instead of returning the item, and the sequence ends there. The
/// destructor waits only for the items that are in progress. Only one thread, the consumer, may call next() and
/// waited_seconds().
template <class Item>
class OrderedPrefetch {
 public:
  using Produce = std::function<Item(int64_t number)>;

  OrderedPrefetch(int64_t first, int64_t end, Produce produce, int64_t workers, int64_t ahead)
      : produce_(std::move(produce)), end_(end), to_take_(first), to_make_(first) {
    const int64_t useful = std::clamp<int64_t>(end - first, 0, workers);
    slots_.resize(static_cast<size_t>(std::max({ahead, useful, int64_t{1}})));
    for (int64_t i = 0; i < useful; ++i) {
      workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
  }

  /// Returns the next item, or std::nullopt after the last item.
  std::optional<Item> next() {
    if (failed_ || to_take_ >= end_) return std::nullopt;
    const auto start = std::chrono::steady_clock::now();
    Slot slot = workers_.empty() ? make(to_take_++) : take();
    waited_ += std::chrono::steady_clock::now() - start;
    failed_ = slot.error != nullptr;
    if (failed_) std::rethrow_exception(slot.error);
    return std::move(slot.item);
  }

  /// Returns the total time that next() has taken so far, in seconds.
  double waited_seconds() const { return std::chrono::duration<double>(waited_).count(); }

 private:
  // The result of one item; empty if there is no result yet.
  struct Slot {
    std::optional<Item> item;
    std::exception_ptr error;
    bool filled() const { return item.has_value() || error != nullptr; }
  };

  Slot make(int64_t number) const noexcept {
    try {
      return {produce_(number), nullptr};
    } catch (...) {
      return {std::nullopt, std::current_exception()};
    }
  }

  Slot& slot_of(int64_t number) { return slots_[static_cast<size_t>(number) % slots_.size()]; }

  Slot take() {
    std::unique_lock lock(mutex_);
    Slot& slot = slot_of(to_take_);
    item_made_.wait(lock, [&] { return slot.filled(); });
    ++to_take_;
    slot_freed_.notify_one();
    return std::exchange(slot, Slot{});
  }

  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto may_make = [this] {
      return to_make_ >= end_ || to_make_ < to_take_ + static_cast<int64_t>(slots_.size());
    };
    while (slot_freed_.wait(lock, stop, may_make) && !stop.stop_requested() && to_make_ < end_) {
      const int64_t number = to_make_++;
      lock.unlock();
      Slot made = make(number);
      lock.lock();
      slot_of(number) = std::move(made);
      item_made_.notify_one();
    }
  }

  const Produce produce_;
  const int64_t end_;
  std::mutex mutex_;
  std::condition_variable item_made_;
  std::condition_variable_any slot_freed_;  // a stop request wakes its waiters
  int64_t to_take_;                         // with workers, mutex_ guards this and the next two members
  int64_t to_make_;
  std::vector<Slot> slots_;
  bool failed_ = false;
  std::chrono::steady_clock::duration waited_{};
  std::vector<std::jthread> workers_;  // last member: stopped and joined before other members are destroyed
};

}  // namespace cachet::data
