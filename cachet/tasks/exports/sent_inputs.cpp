#include "cachet/tasks/exports/sent_inputs.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "cachet/io/files/atomic_file.h"
#include "cachet/io/tensors/png.h"
#include "cachet/models/language/sequence_classifier.h"
#include "cachet/models/vision/image_classifier.h"

namespace cachet::tasks {
namespace {

constexpr size_t kAlone = 16;

bool are_sequences(const ClassifierInputs& inputs) { return inputs.size() > 1; }

/// Ids and padding (1, length) of a sequence: its tokens, again from the first where they are too few.
void set_length(ClassifierInputs& sample, size_t first, int64_t length) {
  const at::Tensor& ids = sample[first];
  sample[first] = ids.index_select(1, at::arange(length).remainder(ids.size(1)));
  sample[first + 1] = at::zeros({1, length}, at::kBool);
}

/// From 1 to the longest, each about three fifths longer than the one before, and the longest but one.
std::vector<int64_t> lengths_up_to(int64_t longest) {
  std::set<int64_t> lengths{longest, std::max<int64_t>(1, longest - 1)};
  for (int64_t length = 1, next = 2; length < longest; next += std::exchange(length, next)) lengths.insert(length);
  return {lengths.begin(), lengths.end()};
}

}  // namespace

std::vector<ClassifierInputs> split_batch(const ClassifierInputs& batch) {
  std::vector<ClassifierInputs> samples;
  for (int64_t row = 0; row < batch.at(0).size(0); ++row) {
    ClassifierInputs sample;
    for (const at::Tensor& tensor : batch) sample.push_back(tensor.narrow(0, row, 1).clone());
    if (are_sequences(batch))
      for (size_t i = 0; i < sample.size(); i += 2) {
        const int64_t tokens = std::max<int64_t>(1, sample[i + 1].logical_not().sum().item<int64_t>());
        sample[i] = sample[i].narrow(1, 0, tokens).clone();
        sample[i + 1] = at::zeros({1, tokens}, at::kBool);
      }
    samples.push_back(std::move(sample));
  }
  return samples;
}

ClassifierInputs join_samples(const std::vector<ClassifierInputs>& samples) {
  ClassifierInputs batch;
  for (size_t i = 0; i < samples.at(0).size(); ++i) {
    int64_t longest = 0;
    for (const ClassifierInputs& sample : samples) longest = std::max(longest, sample[i].size(1));
    std::vector<at::Tensor> rows;
    for (const ClassifierInputs& sample : samples) {
      const at::Tensor& row = sample[i];
      const int64_t missing = are_sequences(sample) ? longest - row.size(1) : 0;
      const bool is_padding = row.scalar_type() == at::kBool;
      rows.push_back(missing > 0 ? at::constant_pad_nd(row, {0, missing}, is_padding ? 1 : 0) : row);
    }
    batch.push_back(at::cat(rows));
  }
  return batch;
}

std::vector<ClassifierInputs> synthetic_samples(const models::Model& model, int64_t count) {
  at::Generator random = at::detail::createCPUGenerator(0);
  std::vector<ClassifierInputs> samples;
  if (const auto* images = dynamic_cast<const models::ImageClassifier*>(&model)) {
    const models::ImageShape image = images->image_shape();
    for (int64_t i = 0; i < count; ++i)
      samples.push_back({at::randn({1, image.channels, image.height, image.width}, random)});
    return samples;
  }
  const models::SequenceShape shape = dynamic_cast<const models::SequenceClassifier&>(model).sequence_shape();
  for (int64_t i = 0; i < count; ++i) {
    ClassifierInputs& sample = samples.emplace_back();
    for (int64_t sequence = 0; sequence < (shape.pairs ? 2 : 1); ++sequence) {
      const int64_t length = at::randint(1, shape.max_length + 1, {1}, random).item<int64_t>();
      sample.push_back(at::randint(0, shape.vocabulary, {1, length}, random, at::kLong));
      sample.push_back(at::zeros({1, length}, at::kBool));
    }
  }
  return samples;
}

std::vector<ClassifierInputs> sent_inputs(const models::Model& model, const std::vector<ClassifierInputs>& samples) {
  const std::span<const ClassifierInputs> first(samples.data(), std::min(samples.size(), kAlone));
  std::vector<ClassifierInputs> sent(first.begin(), first.end());
  size_t place = 0;
  for (const size_t batch : {2, 3, 7}) {
    std::vector<ClassifierInputs> together;
    for (size_t i = 0; i < batch; ++i) together.push_back(samples[place++ % samples.size()]);
    sent.push_back(join_samples(together));
  }
  const auto* sequences = dynamic_cast<const models::SequenceClassifier*>(&model);
  if (sequences == nullptr) return sent;
  const std::vector<int64_t> lengths = lengths_up_to(sequences->sequence_shape().max_length);
  for (size_t i = 0; i < lengths.size(); ++i) {
    ClassifierInputs sample = samples[place++ % samples.size()];
    set_length(sample, 0, lengths[i]);
    // The second of a pair is long where the first is short.
    if (sample.size() > 2) set_length(sample, 2, lengths[lengths.size() - 1 - i]);
    sent.push_back(std::move(sample));
  }
  return sent;
}

std::vector<std::filesystem::path> write_odd_images(const std::filesystem::path& folder, int64_t height,
                                                    int64_t width) {
  struct Size {
    int64_t height, width, channels;
  };
  at::Generator random = at::detail::createCPUGenerator(0);
  std::vector<std::filesystem::path> files;
  const auto write = [&](const at::Tensor& pixels) {
    files.push_back(folder / (std::to_string(files.size()) + ".png"));
    io::write_new_file(files.back(), io::encode_png(pixels.round().to(at::kByte).contiguous()));
  };
  for (const Size& size :
       {Size{1, 1, 3}, Size{height, width, 3}, Size{height, width, 1}, Size{2 * height + 1, 3 * width - 1, 3},
        Size{height / 2 + 1, 2 * width + 3, 1}, Size{3 * height + 2, width / 2 + 1, 3}}) {
    // Patches rather than single pixels: no filter may make them all one grey.
    const at::Tensor patches = at::randint(0, 256, {1, size.channels, 4, 4}, random, at::kFloat);
    const at::Tensor image = at::upsample_bilinear2d(patches, {size.height, size.width}, /*align_corners=*/true);
    write(image[0].permute({1, 2, 0}));
  }
  // One colour: activations are far from those of photographs, so rounding matters most.
  for (const std::array<float, 3>& colour :
       {std::array{240.0F, 10.0F, 10.0F}, std::array{10.0F, 240.0F, 10.0F}, std::array{10.0F, 10.0F, 240.0F},
        std::array{0.0F, 0.0F, 0.0F}, std::array{255.0F, 255.0F, 255.0F}})
    write(at::tensor(at::ArrayRef<float>(colour)).expand({height, width, 3}));
  return files;
}

}  // namespace cachet::tasks
