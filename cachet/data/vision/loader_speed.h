#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cachet/data/order/batch_order.h"
#include "cachet/data/vision/image_loader.h"

namespace cachet::data {

struct LoaderSpeedOptions {
  std::vector<int64_t> threads{1};  // numbers of threads to measure
  double seconds = 1;               // time of a round for one number of threads
  int64_t rounds = 7;
  BadImageOptions bad_images{};
};

/// The images that a loader with `threads` threads made in each second, one value for each round.
struct LoaderSpeed {
  int64_t threads = 0;
  std::vector<double> images_per_second{};
};

/// Measures how fast an ImageLoader reads, decodes and transforms images. In each round, the numbers of threads are
/// measured in turns. A measurement begins when the first batch is ready. `progress` is called after each measurement
/// with the number of finished measurements, and may throw to stop. Throws std::invalid_argument if an epoch has no
/// batch or an option is below its minimum, and io::Error if all images of a measurement were skipped.
std::vector<LoaderSpeed> measure_loader(const std::shared_ptr<const LabelledImages>& images,
                                        const ImageTransform& transform, const std::shared_ptr<const BatchOrder>& order,
                                        const LoaderSpeedOptions& options,
                                        const std::function<void(int64_t done)>& progress = {});

}  // namespace cachet::data
