#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "cachet/config/view.h"
#include "cachet/data/order/batch_order.h"
#include "cachet/data/ordered_prefetch.h"

namespace cachet::data {

struct LoaderOptions {
  int64_t workers = 1;   // number of threads; 0 = the calling thread makes the batches
  int64_t prefetch = 2;  // number of batches in flight for each worker
};

/// Reads the options of a batch loader: the keys workers and prefetch.
LoaderOptions read_loader_options(const config::View& view);

/// The batches of one epoch, in order. next() returns the next batch, or std::nullopt after the last batch.
/// waited_seconds() is the time spent in next(). If a sample cannot be read, next() throws a std::runtime_error that
/// names the sample. Destroying the iterator early stops its workers.
template <class Batch>
class BatchIterator {
 public:
  explicit BatchIterator(std::unique_ptr<OrderedPrefetch<Batch>> batches) : batches_(std::move(batches)) {}
  std::optional<Batch> next() { return batches_->next(); }
  double waited_seconds() const { return batches_->waited_seconds(); }

 private:
  std::unique_ptr<OrderedPrefetch<Batch>> batches_;
};

/// Makes batches of type `Batch` in the order of a BatchOrder. The content of a batch is a function of (seed, epoch,
/// shard, batch number). The content of a batch does not depend on the number of workers, or on the batch with which an
/// iterator begins.
template <class Batch>
class BatchLoader {
 public:
  /// A function that makes a batch. Several threads may call the function at the same time. The function owns or
  /// co-owns all objects that it uses.
  using Make = std::function<Batch(const BatchPlace& place)>;

  /// Throws std::invalid_argument for invalid options.
  BatchLoader(std::shared_ptr<const BatchOrder> order, LoaderOptions options, Make make)
      : order_(std::move(order)), options_(options), make_(std::move(make)) {
    if (options_.workers < 0 || options_.prefetch < 1)
      throw std::invalid_argument("a loader must have at least 0 workers, and its prefetch must be at least 1");
  }

  int64_t batches() const { return order_->read_batches(); }  // number of batches of one epoch, in this process
  const BatchOrder& order() const { return *order_; }

  /// Returns the samples of batch `number` of an epoch. Throws std::out_of_range unless 0 <= number < batches().
  BatchPlace place(int64_t epoch, int64_t number) const { return order_->epoch(epoch).place(number); }

  /// Makes the batch of `place` in the caller's thread. If the caller has removed samples from `place`, each remaining
  /// sample is the same as in iterate().
  Batch make(const BatchPlace& place) const { return make_(place); }

  /// Iterates over the batches of an epoch from `first_batch` on, without reading earlier batches. Throws
  /// std::out_of_range unless 0 <= first_batch <= batches().
  BatchIterator<Batch> iterate(int64_t epoch, int64_t first_batch = 0) const {
    if (first_batch < 0 || first_batch > batches())
      throw std::out_of_range("there is no batch " + std::to_string(first_batch) +
                              "; the number of batches in an epoch is " + std::to_string(batches()));
    // The iterator owns all objects that its workers use, so the iterator may outlive the loader.
    auto produce = [make = make_, order = order_->epoch(epoch)](int64_t number) { return make(order.place(number)); };
    return BatchIterator<Batch>(std::make_unique<OrderedPrefetch<Batch>>(
        first_batch, batches(), std::move(produce), options_.workers, options_.workers * options_.prefetch));
  }

 private:
  std::shared_ptr<const BatchOrder> order_;
  LoaderOptions options_;
  Make make_;
};

}  // namespace cachet::data
