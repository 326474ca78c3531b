#include "cachet/data/loader.h"

#include <ATen/ops/empty.h>

#include <span>
#include <stdexcept>
#include <string>

namespace cachet::data {
namespace {

// Writes one sample to its place in the batch.
int64_t write_sample(const ImageDataset& dataset, const ImageTransform& transform, int64_t index, CounterRandom random,
                     float* out) {
  const at::Tensor image = dataset.image(index);
  if (image.scalar_type() != at::kByte || image.numel() != dataset.shape().numel() || !image.is_contiguous()) {
    throw std::runtime_error("the data set gave an image of another shape or type than it states");
  }
  transform.apply(image.const_data_ptr<uint8_t>(), random, out);
  return dataset.label(index);
}

Batch make_batch(const ImageDataset& dataset, const ImageTransform& transform, std::span<const int64_t> indices,
                 uint64_t seed, int64_t epoch, int64_t number) {
  const ImageShape shape = dataset.shape();
  const auto count = static_cast<int64_t>(indices.size());
  at::Tensor images = at::empty({count, shape.channels, shape.height, shape.width}, at::kFloat);
  at::Tensor labels = at::empty({count}, at::kLong);
  auto* pixel_out = images.mutable_data_ptr<float>();
  auto* label_out = labels.mutable_data_ptr<int64_t>();
  for (const int64_t index : indices) {
    try {
      const CounterRandom random(seed, RandomStream::augmentation, static_cast<uint64_t>(epoch),
                                 static_cast<uint64_t>(index));
      *label_out++ = write_sample(dataset, transform, index, random, pixel_out);
      pixel_out += shape.numel();
    } catch (const std::exception& error) {
      throw std::runtime_error("sample " + std::to_string(index) + " (epoch " + std::to_string(epoch) + ", batch " +
                               std::to_string(number) + "): " + error.what());
    }
  }
  return {transform.resize(images), std::move(labels), {indices.begin(), indices.end()}, number};
}

}  // namespace

LoaderOptions read_loader_options(const config::View& view) {
  LoaderOptions options;
  options.workers = view.integer("workers", options.workers, {0, 256});
  options.prefetch = view.integer("prefetch", options.prefetch, {1, 64});
  return options;
}

Loader::Loader(std::shared_ptr<const ImageDataset> dataset, ImageTransform transform, SamplerOptions sampler,
               LoaderOptions options)
    : dataset_(std::move(dataset)),
      transform_(std::move(transform)),
      sampler_(dataset_->size(), sampler),
      options_(options) {
  if (dataset_->shape() != transform_.input_shape()) {
    throw std::invalid_argument("the transform is made for images of another shape than the data set's");
  }
  if (options_.workers < 0 || options_.prefetch < 1) {
    throw std::invalid_argument("a loader needs 0 or more workers and a prefetch of 1 or more");
  }
}

BatchStream Loader::stream(int64_t epoch, int64_t first_batch) const {
  if (first_batch < 0 || first_batch > batches()) {
    throw std::out_of_range("batch " + std::to_string(first_batch) + " of an epoch of " + std::to_string(batches()));
  }
  // The stream owns all that its workers touch, so that it may outlive the loader.
  auto produce = [dataset = dataset_, transform = transform_, sampler = sampler_, order = sampler_.order(epoch),
                  epoch](int64_t number) {
    return make_batch(*dataset, transform, sampler.batch(order, number), sampler.options().seed, epoch, number);
  };
  return BatchStream(std::make_unique<OrderedPrefetch<Batch>>(first_batch, batches(), std::move(produce),
                                                              options_.workers, options_.workers * options_.prefetch));
}

}  // namespace cachet::data
