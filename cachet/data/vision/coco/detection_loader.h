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

namespace cachet::data {

/// What becomes of an image that cannot be decoded.
enum class OnBadImage {
  stop,  // the run ends with an error that names it
  skip,  // its batches go without it, and the run's log names it
};
/// Reads on_bad_image: "stop" or "skip".
OnBadImage read_on_bad_image(const config::View& view);
/// None yet.
std::shared_ptr<ImageNotes> skipped_images();

struct DetectionBatch {
  /// (B, 3, H, W) float32: samples side by side, each in the upper left corner, zeros beyond it. B is smaller than the
  /// batch size where images were skipped, and may be 0.
  at::Tensor images{};
  std::vector<DetectionSample> samples{};    // without their pixels, which are in `images`
  int64_t number = 0;                        // within the epoch
  std::map<int64_t, std::string> skipped{};  // images that could not be read, and why
};

/// Samples as one batch whose sides are multiples of `multiple`. Takes their pixels.
DetectionBatch collate(std::vector<DetectionSample> samples, int64_t multiple);

/// Groups for GroupedBatches: 1 for images wider than high, else 0.
std::vector<int64_t> orientations(const DetectionSet& set);

/// Groups for GroupedBatches in the order of the set: the images of one group are among `window` consecutive ones and
/// have one size after evaluation's transform, filled up to its multiple. In such a batch no image is filled up
/// further, so that what a model makes of it does not depend on the others.
std::vector<int64_t> padded_sizes(const DetectionSet& set, const DetectionTransformOptions& transform, int64_t window);

/// Makes batches of a detection set.
class DetectionLoader {
 public:
  /// What is drawn for a sample is a function of (order->seed(), epoch, sample). `bad_images` may be shared.
  DetectionLoader(std::shared_ptr<const DetectionSet> set, DetectionTransform transform,
                  std::shared_ptr<const BatchOrder> order, OnBadImage on_bad_image = OnBadImage::stop,
                  std::shared_ptr<ImageNotes> bad_images = skipped_images(), LoaderOptions options = {});

  int64_t batches() const { return loader_.batches(); }  // of one epoch
  const DetectionSet& set() const { return *set_; }
  const DetectionTransform& transform() const { return transform_; }
  const ImageNotes& bad_images() const { return *bad_images_; }

  /// As BatchLoader::iterate.
  BatchIterator<DetectionBatch> iterate(int64_t epoch, int64_t first_batch = 0) const {
    return loader_.iterate(epoch, first_batch);
  }
  /// As BatchLoader's.
  BatchPlace place(int64_t epoch, int64_t number) const { return loader_.place(epoch, number); }
  DetectionBatch make(const BatchPlace& place) const { return loader_.make(place); }

 private:
  std::shared_ptr<const DetectionSet> set_;
  DetectionTransform transform_;
  std::shared_ptr<ImageNotes> bad_images_;
  BatchLoader<DetectionBatch> loader_;
};

}  // namespace cachet::data
