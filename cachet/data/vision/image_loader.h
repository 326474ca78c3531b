#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cachet/data/loader.h"
#include "cachet/data/vision/image_transform.h"
#include "cachet/data/vision/labelled_images.h"
#include "cachet/data/vision/on_bad_image.h"

namespace cachet::data {

struct ImageBatch {
  at::Tensor images;                         // (B, C, H, W) float32
  at::Tensor labels;                         // (B) int64
  std::vector<int64_t> indices;              // indices of the samples in the data set
  int64_t number = 0;                        // number of the batch in the epoch
  std::map<int64_t, std::string> skipped{};  // images that could not be decoded, which B does not count, and the faults
};

/// The treatment of images that cannot be decoded.
struct BadImageOptions {
  OnBadImage treatment = OnBadImage::stop;
  bool has_key = false;  // whether the recipe can have the key data.on_bad_image, so that an error can name the key
  std::shared_ptr<ImageNotes> notes = skipped_images();  // of skipped images; loaders may have notes in common
};

/// Makes batches of transformed images. An error names the unreadable sample, its epoch and its batch.
class ImageLoader {
 public:
  /// The random choices for augmenting a sample are a function of (order->seed(), epoch, sample, repetition). Throws
  /// std::invalid_argument if `order` has another number of samples than `dataset`, or if `transform` is for another
  /// image shape.
  ImageLoader(std::shared_ptr<const LabelledImages> dataset, ImageTransform transform,
              std::shared_ptr<const BatchOrder> order, LoaderOptions options = {}, BadImageOptions bad_images = {});

  int64_t batches() const { return loader_.batches(); }  // number of batches of one epoch
  const LabelledImages& dataset() const { return *dataset_; }
  const ImageTransform& transform() const { return transform_; }

  /// Iterates over the batches of an epoch, from `first_batch` on (BatchLoader::iterate).
  BatchIterator<ImageBatch> iterate(int64_t epoch, int64_t first_batch = 0) const {
    return loader_.iterate(epoch, first_batch);
  }
  /// Returns the samples of batch `number` of an epoch; see BatchLoader::place().
  BatchPlace place(int64_t epoch, int64_t number) const { return loader_.place(epoch, number); }
  ImageBatch make(const BatchPlace& place) const { return loader_.make(place); }

 private:
  std::shared_ptr<const LabelledImages> dataset_;
  ImageTransform transform_;
  BatchLoader<ImageBatch> loader_;
};

}  // namespace cachet::data
