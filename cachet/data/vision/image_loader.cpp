#include "cachet/data/vision/image_loader.h"

#include <ATen/ops/empty.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "cachet/io/error.h"

namespace cachet::data {
namespace {

// What makes batches, shared by the threads of a loader.
struct ImageBatchMaker {
  std::shared_ptr<const LabelledImages> dataset;
  ImageTransform transform;
  BadImageOptions bad_images;
  uint64_t seed;

  ImageBatch operator()(const BatchPlace& place) const {
    const ImageShape shape = transform.sample_shape();
    const auto count = static_cast<int64_t>(place.samples.size());
    at::Tensor images = at::empty({count, shape.channels, shape.height, shape.width}, at::kFloat);
    at::Tensor labels = at::empty({count}, at::kLong);
    auto* pixel_out = images.mutable_data_ptr<float>();
    auto* label_out = labels.mutable_data_ptr<int64_t>();
    ImageBatch batch;
    for (const auto& [index, repetition] : place.samples) {
      // The first repetition draws what the sample would draw without repetitions.
      const int64_t drawn_as = index + repetition * dataset->size();
      if (!apply(index, {seed, static_cast<uint64_t>(place.epoch), static_cast<uint64_t>(drawn_as)}, pixel_out, batch))
        continue;
      *label_out++ = dataset->labels()[index];
      pixel_out += shape.numel();
      batch.indices.push_back(index);
    }
    const auto made = static_cast<int64_t>(batch.indices.size());
    batch.images = transform.resize(images.narrow(0, 0, made));
    batch.labels = labels.narrow(0, 0, made);
    batch.number = place.number;
    return batch;
  }

 private:
  // False for an image that is skipped.
  bool apply(int64_t index, const SampleRandom& random, float* out, ImageBatch& batch) const {
    const auto fail = [index](const std::string& fault) {
      throw std::runtime_error("sample " + std::to_string(index) + ": " + fault);
    };
    try {
      transform.apply(dataset->images(), index, random, out);
      return true;
    } catch (const io::Error& error) {
      if (bad_images.treatment == OnBadImage::stop)
        fail(error.what() + std::string(bad_images.has_key ? kHowToSkipImages : ""));
      bad_images.notes->add(error.what());
      batch.skipped.emplace(index, error.what());
    } catch (const std::exception& error) {
      fail(error.what());
    }
    return false;
  }
};

BatchLoader<ImageBatch> image_batches(const std::shared_ptr<const LabelledImages>& dataset,
                                      const ImageTransform& transform, std::shared_ptr<const BatchOrder> order,
                                      LoaderOptions loader, BadImageOptions bad_images) {
  if (dataset->images().shape() != transform.input_shape())
    throw std::invalid_argument("the transform must be made for the image shape of the data set");
  if (order->samples() != dataset->size())
    throw std::invalid_argument("the order must have as many samples as the data set");
  const uint64_t seed = order->seed();
  return {std::move(order), loader, ImageBatchMaker{dataset, transform, std::move(bad_images), seed}};
}

}  // namespace

ImageLoader::ImageLoader(std::shared_ptr<const LabelledImages> dataset, ImageTransform transform,
                         std::shared_ptr<const BatchOrder> order, LoaderOptions options, BadImageOptions bad_images)
    : dataset_(std::move(dataset)),
      transform_(std::move(transform)),
      loader_(image_batches(dataset_, transform_, std::move(order), options, std::move(bad_images))) {}

}  // namespace cachet::data
