#include "cachet/tasks/image_classification/training_pictures.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cachet/report/format.h"
#include "cachet/tasks/samples/page_picture.h"

namespace cachet::tasks {
namespace {

constexpr size_t kMaxTrainingPictures = 16;
constexpr int64_t kTrainingPictureSide = 128;
constexpr double kMinShare = 0.005;  // that two digits show

data::MixedBatch samples_at(const data::ImageLoader& loader, const data::BatchPlace& batch,
                            const std::vector<int64_t>& indices, double label_smoothing) {
  data::BatchPlace part{{}, batch.epoch, batch.number};
  for (const int64_t place : indices) part.samples.push_back(batch.samples.at(static_cast<size_t>(place)));
  const data::ImageBatch made = loader.make(part);
  return {made.images, data::soft_targets(made.labels, loader.dataset().labels().classes(), label_smoothing)};
}

/// "cat 0.62, dog 0.38"; "cat" where it has all. What every class gets of label smoothing is not a class of the image.
std::string classes_of(const at::Tensor& target, const std::vector<std::string>& names, double everywhere) {
  std::vector<std::pair<double, size_t>> shares;
  const float* values = target.const_data_ptr<float>();
  for (size_t i = 0; i < names.size(); ++i)
    if (values[i] > everywhere + kMinShare) shares.emplace_back(-values[i], i);
  std::ranges::sort(shares);
  std::string text;
  for (const auto& [negative, index] : shares) {
    text += (text.empty() ? "" : ", ") + names[index];
    if (-negative < 1 - kMinShare) text += " " + report::format_fixed(-negative, 2);
  }
  return text;
}

std::string note_of(size_t shown, size_t all, const data::MixingOptions& options,
                    const std::optional<data::Mixing>& mixing) {
  std::string note = std::to_string(shown) + " of the " + std::to_string(all) +
                     " images of the first batch, resized and augmented as the model gets them.";
  if (mixing)
    note += std::string(mixing->cut ? " A box of each image shows another image (CutMix)"
                                    : " Each image is blended with another image (mixup)") +
            "; the number after a class name is the fraction of the target for this class.";
  else if (options.mixes())
    note += " Some batches are mixed, but not this one.";
  if (options.label_smoothing > 0) note += " Label smoothing gives all other classes equal, small targets.";
  return note;
}

}  // namespace

report::ImageGrid training_pictures(const data::ImageLoader& loader, const data::Normalization& normalization,
                                    const data::MixingOptions& options, uint64_t seed) {
  const data::ImageShape shape = loader.transform().output_shape();
  if (shape.channels != 1 && shape.channels != 3) return {};
  const data::BatchPlace batch = loader.place(/*epoch=*/0, /*number=*/0);
  const size_t all = batch.samples.size(), shown = std::min(all, kMaxTrainingPictures);
  std::vector<int64_t> indices(shown);
  for (size_t i = 0; i < shown; ++i) indices[i] = static_cast<int64_t>(i);

  data::MixedBatch samples = samples_at(loader, batch, indices, options.label_smoothing);
  const auto mixing =
      data::draw_mixing(static_cast<int64_t>(all), shape.height, shape.width, options, seed, batch.epoch, batch.number);
  if (mixing) {
    std::copy_n(mixing->partners.begin(), shown, indices.begin());
    samples = data::mix(samples, samples_at(loader, batch, indices, options.label_smoothing), *mixing);
  }
  const std::vector<std::string>& names = loader.dataset().labels().class_names();
  const double everywhere = options.label_smoothing / static_cast<double>(names.size());
  report::ImageGrid grid{"Images of the first step", {}, note_of(shown, all, options, mixing)};
  for (size_t i = 0; i < shown; ++i) {
    const auto row = static_cast<int64_t>(i);
    const std::string classes = classes_of(samples.targets[row].contiguous(), names, everywhere);
    const at::Tensor pixels = data::pixels_of_normalized(samples.images[row], normalization);
    grid.pictures.push_back({page_picture(pixels, kTrainingPictureSide), classes, classes});
  }
  return grid;
}

}  // namespace cachet::tasks
