#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/ordered_prefetch.h"
#include "cachet/data/sampler.h"
#include "cachet/data/vision/image_dataset.h"
#include "cachet/data/vision/transforms.h"

namespace cachet::data {

struct Batch {
  at::Tensor images;             // (B, C, H, W) float32
  at::Tensor labels;             // (B) int64
  std::vector<int64_t> indices;  // of the data set
  int64_t number = 0;            // within the epoch
};

struct LoaderOptions {
  int64_t workers = 1;                // threads; 0 = batches are made in the caller
  int64_t prefetch = 2;               // batches in flight for each worker
  int64_t repeated_augmentation = 1;  // SamplerOptions::repeats of training
};

/// Reads workers, prefetch and repeated_augmentation.
LoaderOptions read_loader_options(const config::View& view);

/// One epoch's batches, in order: next() gives the next one, nothing after the last; waited_seconds() is the time spent
/// in next(). A sample that cannot be read makes next() throw a std::runtime_error that names it, whichever thread read
/// it. Destroying the stream early stops its workers.
class BatchStream {
 public:
  explicit BatchStream(std::unique_ptr<OrderedPrefetch<Batch>> batches) : batches_(std::move(batches)) {}
  std::optional<Batch> next() { return batches_->next(); }
  double waited_seconds() const { return batches_->waited_seconds(); }

 private:
  std::unique_ptr<OrderedPrefetch<Batch>> batches_;
};

/// Makes batches of a data set. What a batch holds is a function of (seed, epoch, batch number), whatever the number of
/// workers and wherever the stream was started.
class Loader {
 public:
  /// Throws std::invalid_argument when sizes or shapes do not match.
  Loader(std::shared_ptr<const ImageDataset> dataset, ImageTransform transform, SamplerOptions sampler,
         LoaderOptions options = {});

  int64_t batches() const { return sampler_.batches(); }  // of one epoch
  const ImageDataset& dataset() const { return *dataset_; }
  const ImageTransform& transform() const { return transform_; }

  /// The batches of an epoch from `first_batch` on, without work for those before it. Throws
  /// std::out_of_range unless 0 <= first_batch <= batches().
  BatchStream stream(int64_t epoch, int64_t first_batch = 0) const;

 private:
  std::shared_ptr<const ImageDataset> dataset_;
  ImageTransform transform_;
  Sampler sampler_;
  LoaderOptions options_;
};

}  // namespace cachet::data
