#include "cachet/data/loader.h"

#include <ATen/ops/empty.h>

#include <span>
#include <stdexcept>
#include <string>

namespace cachet::data {
namespace {

Batch make_batch(const ImageDataset& dataset, const ImageTransform& transform, const Sampler& sampler,
                 std::span<const int64_t> indices, int64_t epoch, int64_t number) {
  const ImageShape shape = transform.sample_shape();
  const auto count = static_cast<int64_t>(indices.size());
  at::Tensor images = at::empty({count, shape.channels, shape.height, shape.width}, at::kFloat);
  at::Tensor labels = at::empty({count}, at::kLong);
  auto* pixel_out = images.mutable_data_ptr<float>();
  auto* label_out = labels.mutable_data_ptr<int64_t>();
  int64_t position = number * sampler.options().batch_size;
  for (const int64_t index : indices) {
    try {
      // The first repetition draws what the sample would draw without repetitions.
      const int64_t drawn_as = index + sampler.repetition(position++) * dataset.size();
      const SampleRandom random{sampler.options().seed, static_cast<uint64_t>(epoch), static_cast<uint64_t>(drawn_as)};
      transform.apply(dataset, index, random, pixel_out);
      *label_out++ = dataset.label(index);
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
  options.repeated_augmentation = view.integer("repeated_augmentation", options.repeated_augmentation, {1, 64});
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
    return make_batch(*dataset, transform, sampler, sampler.batch(order, number), epoch, number);
  };
  return BatchStream(std::make_unique<OrderedPrefetch<Batch>>(first_batch, batches(), std::move(produce),
                                                              options_.workers, options_.workers * options_.prefetch));
}

}  // namespace cachet::data
