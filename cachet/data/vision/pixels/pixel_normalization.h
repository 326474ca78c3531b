#pragma once

#include <optional>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/vision/image_kinds.h"

namespace cachet::data {

/// The ranges of a channel's mean and deviation, of pixels in [0, 1]: float32 holds the results.
inline constexpr config::Range<double> kChannelMeans{-1e6, 1e6}, kChannelDeviations{1e-6, 1e6};

/// Per channel, for pixels scaled to [0, 1]: (x / 255 − mean) / std. This file chooses mean and deviation;
/// ImageTransform applies them.
struct Normalization {
  std::vector<double> mean, std;

  /// The statistics of all pixels of a data set, exact (sums of integers).
  static Normalization from_data(const ImageSource& images);
  /// The statistics of a known kind's full training set, ImageNet's for class_folders; nothing for idx.
  static std::optional<Normalization> known(const ImageKind& kind);
  /// One channel for all: the means of mean and std.
  Normalization of_grey() const;
};

/// Where mean and deviation come from: `automatic` takes known ones, else the data's.
enum class NormalizationSource { automatic, data, none };

struct NormalizationOptions {
  NormalizationSource source = NormalizationSource::automatic;
  std::vector<double> mean{}, std{};  // when given, they win over source; one value a channel, or one for all
};

/// Reads source, mean and std.
NormalizationOptions read_normalization_options(const config::View& view, NormalizationOptions defaults = {});

/// Throws std::invalid_argument when the number of values does not match the channels. `training_images` is read only
/// when statistics of the data are asked for.
Normalization make_normalization(const NormalizationOptions& options, const ImageKind& kind,
                                 const ImageSource& training_images);

/// A normalised image (C, H, W) as the pixels that it was made of, (H, W, C) uint8.
at::Tensor pixels_of_normalized(const at::Tensor& image, const Normalization& normalization);

/// The whole data set as a matrix (N, C·H·W) float32, normalised: the input of a linear baseline.
at::Tensor flattened_images(const ImageSource& images, const Normalization& normalization);

}  // namespace cachet::data
