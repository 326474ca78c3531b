#include "cachet/data/vision/image_loader.h"

#include <ATen/ops/empty.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace cachet::data {
namespace {

ImageBatch make_image_batch(const LabelledImages& dataset, const ImageTransform& transform, uint64_t seed,
                            const BatchPlace& place) {
  const ImageShape shape = transform.sample_shape();
  const auto count = static_cast<int64_t>(place.samples.size());
  at::Tensor images = at::empty({count, shape.channels, shape.height, shape.width}, at::kFloat);
  at::Tensor labels = at::empty({count}, at::kLong);
  auto* pixel_out = images.mutable_data_ptr<float>();
  auto* label_out = labels.mutable_data_ptr<int64_t>();
  for (const auto& [index, repetition] : place.samples) {
    try {
      // The first repetition draws what the sample would draw without repetitions.
      const int64_t drawn_as = index + repetition * dataset.size();
      const SampleRandom random{seed, static_cast<uint64_t>(place.epoch), static_cast<uint64_t>(drawn_as)};
      transform.apply(dataset.images(), index, random, pixel_out);
      *label_out++ = dataset.labels()[index];
      pixel_out += shape.numel();
    } catch (const std::exception& error) {
      throw std::runtime_error("sample " + std::to_string(index) + ": " + error.what());
    }
  }
  return {transform.resize(images), std::move(labels), place.indices(), place.number};
}

BatchLoader<ImageBatch> image_batches(const std::shared_ptr<const LabelledImages>& dataset,
                                      const ImageTransform& transform, std::shared_ptr<const BatchOrder> order,
                                      LoaderOptions loader) {
  if (dataset->images().shape() != transform.input_shape())
    throw std::invalid_argument("the transform must be made for the image shape of the data set");
  if (order->samples() != dataset->size())
    throw std::invalid_argument("the order must have as many samples as the data set");
  const uint64_t seed = order->seed();
  return {std::move(order), loader, [dataset, transform, seed](const BatchPlace& place) {
            return make_image_batch(*dataset, transform, seed, place);
          }};
}

}  // namespace

ImageLoader::ImageLoader(std::shared_ptr<const LabelledImages> dataset, ImageTransform transform,
                         std::shared_ptr<const BatchOrder> order, LoaderOptions options)
    : dataset_(std::move(dataset)),
      transform_(std::move(transform)),
      loader_(image_batches(dataset_, transform_, std::move(order), options)) {}

}  // namespace cachet::data
