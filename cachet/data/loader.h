#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cachet/config/view.h"
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
  int64_t workers = 1;   // threads; 0 = batches are made in the caller
  int64_t prefetch = 2;  // batches in flight for each worker
};

/// Reads workers and prefetch.
LoaderOptions read_loader_options(const config::View& view);

/// One epoch's batches, in order. Destroying it early stops the workers.
class BatchStream {
 public:
  struct Worker;
  explicit BatchStream(std::unique_ptr<Worker> worker);
  BatchStream(BatchStream&&) noexcept;
  BatchStream& operator=(BatchStream&&) noexcept;
  ~BatchStream();

  /// The next batch, nothing after the last. Throws std::runtime_error naming the sample that failed, when one did; the
  /// stream ends there.
  std::optional<Batch> next();
  /// Seconds spent inside next() so far: the time the consumer waited for data.
  double waited_seconds() const;

 private:
  std::unique_ptr<Worker> worker_;
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

  /// The batches of an epoch from `first_batch` on, without work for those before it. The loader must outlive it.
  BatchStream stream(int64_t epoch, int64_t first_batch = 0) const;

 private:
  std::shared_ptr<const ImageDataset> dataset_;
  ImageTransform transform_;
  Sampler sampler_;
  LoaderOptions options_;
};

}  // namespace cachet::data
