#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/loader.h"
#include "cachet/data/vision/coco/detection_set.h"
#include "cachet/data/vision/coco/detection_transform.h"
#include "cachet/data/vision/image_notes.h"
#include "cachet/data/vision/on_bad_image.h"

namespace cachet::data {

struct DetectionBatch {
  /// The images of the batch, (B, 3, H, W) float32. Each sample is in the upper left corner of its image, with zeros
  /// outside the sample. If images were skipped, B is smaller than the batch size, and may be 0.
  at::Tensor images{};
  std::vector<DetectionSample> samples{};    // without their pixels, which are in `images`
  int64_t number = 0;                        // number of the batch in the epoch
  std::map<int64_t, std::string> skipped{};  // images that could not be read, and the reasons
};

/// Makes one batch of samples, with sides that are multiples of `multiple`. Moves the samples' pixels into the batch.
DetectionBatch collate(std::vector<DetectionSample> samples, int64_t multiple);

/// Returns the groups for GroupedBatches: 1 for images that are wider than high, 0 for all other images.
std::vector<int64_t> orientations(const DetectionSet& set);

/// Returns the group of each image for GroupedBatches, in the order of the data set. A group has only images of the
/// same block of `window` consecutive images. In evaluation, all images of a group have the same padded size (sides
/// that are multiples of transform.multiple). Therefore, a batch adds no padding to its images, and the model's result
/// for an image does not depend on the batch's other images.
std::vector<int64_t> padded_sizes(const DetectionSet& set, const DetectionTransformOptions& transform, int64_t window);

/// Makes batches from a detection set.
class DetectionLoader {
 public:
  /// The random draws for a sample are a function of (order->seed(), epoch, sample). Loaders may share `bad_images`.
  DetectionLoader(std::shared_ptr<const DetectionSet> set, DetectionTransform transform,
                  std::shared_ptr<const BatchOrder> order, OnBadImage on_bad_image = OnBadImage::stop,
                  std::shared_ptr<ImageNotes> bad_images = skipped_images(), LoaderOptions options = {});

  int64_t batches() const { return loader_.batches(); }  // number of batches of one epoch
  const DetectionSet& set() const { return *set_; }
  const DetectionTransform& transform() const { return transform_; }
  const ImageNotes& bad_images() const { return *bad_images_; }

  /// Iterates over the batches of an epoch, from `first_batch` on (BatchLoader::iterate).
  BatchIterator<DetectionBatch> iterate(int64_t epoch, int64_t first_batch = 0) const {
    return loader_.iterate(epoch, first_batch);
  }
  /// Returns the samples of batch `number` of an epoch; see BatchLoader::place().
  BatchPlace place(int64_t epoch, int64_t number) const { return loader_.place(epoch, number); }
  DetectionBatch make(const BatchPlace& place) const { return loader_.make(place); }

 private:
  std::shared_ptr<const DetectionSet> set_;
  DetectionTransform transform_;
  std::shared_ptr<ImageNotes> bad_images_;
  BatchLoader<DetectionBatch> loader_;
};

}  // namespace cachet::data
