#include "cachet/data/vision/coco/detection_loader.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cachet/io/error.h"

namespace cachet::data {
namespace {

// What makes samples, shared by the threads of a loader.
struct SampleMaker {
  std::shared_ptr<const DetectionSet> set;
  DetectionTransform transform;
  OnBadImage on_bad_image;
  std::shared_ptr<ImageNotes> bad_images;
  uint64_t seed;

  std::optional<DetectionSample> sample(const PlacedSample& placed, const BatchPlace& place,
                                        std::map<int64_t, std::string>& skipped) const {
    at::Tensor pixels;
    try {
      pixels = set->pixels(placed.index);
    } catch (const io::Error& error) {
      if (on_bad_image == OnBadImage::stop) throw io::Error(error.what() + std::string(kHowToSkipImages));
      bad_images->add(error.what());
      skipped.emplace(placed.index, error.what());
      return std::nullopt;
    }
    const SampleRandom random{seed, static_cast<uint64_t>(place.epoch), static_cast<uint64_t>(placed.index)};
    DetectionSample sample = transform.apply(std::move(pixels), set->objects(placed.index), transform.draw(random));
    sample.index = placed.index;
    sample.image_id = set->image(placed.index).id;
    return sample;
  }

  DetectionBatch operator()(const BatchPlace& place) const {
    std::vector<DetectionSample> samples;
    std::map<int64_t, std::string> skipped;
    for (const PlacedSample& placed : place.samples) {
      if (auto made = sample(placed, place, skipped)) samples.push_back(*std::move(made));
    }
    DetectionBatch batch = collate(std::move(samples), transform.options().multiple);
    batch.number = place.number;
    batch.skipped = std::move(skipped);
    return batch;
  }
};

}  // namespace

DetectionBatch collate(std::vector<DetectionSample> samples, int64_t multiple) {
  int64_t height = 0, width = 0;
  for (const DetectionSample& sample : samples) {
    height = std::max(height, padded_side(sample.resized.height, multiple));
    width = std::max(width, padded_side(sample.resized.width, multiple));
  }
  DetectionBatch batch;
  batch.images = at::zeros({static_cast<int64_t>(samples.size()), 3, height, width}, at::kFloat);
  for (size_t i = 0; i < samples.size(); ++i) {
    const geometry::Size& size = samples[i].resized;
    batch.images[static_cast<int64_t>(i)].narrow(1, 0, size.height).narrow(2, 0, size.width).copy_(samples[i].pixels);
    samples[i].pixels = at::Tensor();
  }
  batch.samples = std::move(samples);
  return batch;
}

std::vector<int64_t> orientations(const DetectionSet& set) {
  std::vector<int64_t> groups;
  for (int64_t i = 0; i < set.size(); ++i) groups.push_back(set.image(i).size.width > set.image(i).size.height ? 1 : 0);
  return groups;
}

std::vector<int64_t> padded_sizes(const DetectionSet& set, const DetectionTransformOptions& transform, int64_t window) {
  const ScaleLimit limit = transform.for_evaluation().scales.front();
  std::vector<int64_t> groups;
  std::map<std::array<int64_t, 3>, int64_t> numbers;  // of window, height and width
  for (int64_t i = 0; i < set.size(); ++i) {
    const geometry::Size size = size_within(set.image(i).size, limit);
    const std::array<int64_t, 3> group{i / window, padded_side(size.height, transform.multiple),
                                       padded_side(size.width, transform.multiple)};
    groups.push_back(numbers.emplace(group, static_cast<int64_t>(numbers.size())).first->second);
  }
  return groups;
}

DetectionLoader::DetectionLoader(std::shared_ptr<const DetectionSet> set, DetectionTransform transform,
                                 std::shared_ptr<const BatchOrder> order, OnBadImage on_bad_image,
                                 std::shared_ptr<ImageNotes> bad_images, LoaderOptions options)
    : set_(std::move(set)),
      transform_(std::move(transform)),
      bad_images_(std::move(bad_images)),
      loader_(order, options, SampleMaker{set_, transform_, on_bad_image, bad_images_, order->seed()}) {
  if (order->samples() != set_->size())
    throw std::invalid_argument("the order has " + std::to_string(order->samples()) +
                                " samples, but the data set has " + std::to_string(set_->size()) + " images");
}

}  // namespace cachet::data
