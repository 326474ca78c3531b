#include "cachet/data/vision/pixels/pixel_normalization.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>

#include "cachet/data/vision/image_transform.h"

namespace cachet::data {

Normalization Normalization::from_data(const ImageSource& images) {
  const ImageShape shape = images.shape();
  if (!images.has_one_size()) {
    throw std::invalid_argument(
        "the mean and standard deviation can be computed only if all images have the same size; set mean and std");
  }
  const int64_t area = shape.height * shape.width;
  std::vector<uint64_t> sum(static_cast<size_t>(shape.channels)), squares(sum.size());
  for (int64_t i = 0; i < images.size(); ++i) {
    const at::Tensor image = images.image(i);
    const uint8_t* pixel = image.const_data_ptr<uint8_t>();
    for (size_t c = 0; c < sum.size(); ++c) {
      for (int64_t p = 0; p < area; ++p, ++pixel) {
        sum[c] += *pixel;
        squares[c] += uint64_t{*pixel} * *pixel;
      }
    }
  }
  const double count = static_cast<double>(images.size() * area);
  if (count == 0) throw std::invalid_argument("an empty data set has no mean and no standard deviation");
  Normalization result;
  for (size_t c = 0; c < sum.size(); ++c) {
    const double mean = static_cast<double>(sum[c]) / count;
    const double variance = static_cast<double>(squares[c]) / count - mean * mean;
    result.mean.push_back(mean / 255);
    result.std.push_back(variance > 0 ? std::sqrt(variance) / 255 : 1);  // a channel of one colour stays finite
  }
  return result;
}

std::optional<Normalization> Normalization::known(const ImageKind& kind) {
  if (kind.mean.empty()) return std::nullopt;
  return Normalization{{kind.mean.begin(), kind.mean.end()}, {kind.std.begin(), kind.std.end()}};
}

Normalization Normalization::of_grey() const {
  const auto average = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  return {{average(mean)}, {average(std)}};
}

namespace {

/// What `key` holds, or `fallback` if it is absent; nothing after a problem, which was reported then.
std::optional<std::vector<double>> reals_in_range(const config::View& view, const char* key,
                                                  const std::vector<double>& fallback,
                                                  const config::Range<double>& range) {
  if (!view.has(key)) return view.reals(key, fallback, range);
  const std::vector<double> refused{std::numeric_limits<double>::quiet_NaN()};
  std::vector<double> values = view.reals(key, refused, range);
  if (values.size() == 1 && std::isnan(values.front())) return std::nullopt;
  return values;
}

}  // namespace

NormalizationOptions read_normalization_options(const config::View& view, NormalizationOptions options) {
  static constexpr std::array<config::Choice<NormalizationSource>, 3> kSources{{
      {"automatic", NormalizationSource::automatic},
      {"data", NormalizationSource::data},
      {"none", NormalizationSource::none},
  }};
  options.source = view.choice("source", options.source, kSources);
  const std::optional mean = reals_in_range(view, "mean", options.mean, kChannelMeans),
                      std = reals_in_range(view, "std", options.std, kChannelDeviations);
  if (!mean || !std) return options;
  options.mean = *mean;
  options.std = *std;
  if (options.mean.empty() != options.std.empty()) {
    view.problem(options.mean.empty() ? "std" : "mean", "mean and std must both be set, or both be left out");
  } else if (options.mean.size() != options.std.size()) {
    view.problem("std", "mean has " + std::to_string(options.mean.size()) + " values, but std has " +
                            std::to_string(options.std.size()) +
                            "; both need one value for each channel, or one value for all channels");
  }
  return options;
}

Normalization make_normalization(const NormalizationOptions& options, const ImageKind& kind,
                                 const ImageSource& training_images) {
  const auto channels = static_cast<size_t>(training_images.shape().channels);
  if (!options.mean.empty()) {
    Normalization given{options.mean, options.std};
    if (given.mean.size() == 1) given.mean.resize(channels, given.mean.front());
    if (given.std.size() == 1) given.std.resize(channels, given.std.front());
    if (given.mean.size() != channels || given.std.size() != channels) {
      throw std::invalid_argument("mean has " + std::to_string(options.mean.size()) + " values and std has " +
                                  std::to_string(options.std.size()) + ", but the images have " +
                                  std::to_string(channels) + " channels");
    }
    return given;
  }
  if (options.source == NormalizationSource::none) {
    return {std::vector<double>(channels, 0.0), std::vector<double>(channels, 1.0)};
  }
  const std::optional<Normalization> known = Normalization::known(kind);
  if (options.source == NormalizationSource::automatic && known) {
    return channels == 1 && known->mean.size() == 3 ? known->of_grey() : *known;
  }
  return Normalization::from_data(training_images);
}

at::Tensor pixels_of_normalized(const at::Tensor& image, const Normalization& normalization) {
  const auto channels = [](const std::vector<double>& values) {
    return at::tensor(values, at::kFloat).view({-1, 1, 1});
  };
  const at::Tensor pixels = image * channels(normalization.std) + channels(normalization.mean);
  return (pixels * 255).round().clamp(0, 255).to(at::kByte).permute({1, 2, 0}).contiguous();
}

at::Tensor flattened_images(const ImageSource& images, const Normalization& normalization) {
  if (!images.has_one_size()) throw std::invalid_argument("a matrix of images needs images of the same size");
  const ImageTransform transform(images.shape(), normalization);
  const int64_t columns = images.shape().numel();
  at::Tensor matrix = at::empty({images.size(), columns}, at::kFloat);
  auto* out = matrix.mutable_data_ptr<float>();
  for (int64_t i = 0; i < images.size(); ++i, out += columns) transform.apply(images, i, SampleRandom{}, out);
  return matrix;
}

}  // namespace cachet::data
