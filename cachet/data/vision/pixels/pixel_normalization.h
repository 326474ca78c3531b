#pragma once

#include <optional>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/vision/image_kinds.h"

namespace cachet::data {

/// The ranges of a channel's mean and deviation, for pixels in [0, 1], within which float32 can represent the results.
inline constexpr config::Range<double> kChannelMeans{-1e6, 1e6}, kChannelDeviations{1e-6, 1e6};

/// Normalization of each channel, for pixels scaled to [0, 1]: (x / 255 − mean) / std. The functions of this header
/// choose the mean and the deviation, and ImageTransform normalises with them.
struct Normalization {
  std::vector<double> mean, std;

  /// Returns the exact statistics of all pixels of a data set, computed from sums of integers.
  static Normalization from_data(const ImageSource& images);
  /// Returns mean and deviation of the training set of `kind` (ImageNet for class_folders), or std::nullopt for idx.
  static std::optional<Normalization> known(const ImageKind& kind);
  /// Returns the normalization of one grey channel, with the averages of `mean` and of `std`.
  Normalization of_grey() const;
};

/// Source of mean and deviation. `automatic` uses the image kind's known values, or the data's if none are known.
enum class NormalizationSource { automatic, data, none };

struct NormalizationOptions {
  NormalizationSource source = NormalizationSource::automatic;
  std::vector<double> mean{}, std{};  // if not empty, replaces `source`; one value for each channel, or one for all
};

/// Reads the keys source, mean and std.
NormalizationOptions read_normalization_options(const config::View& view, NormalizationOptions defaults = {});

/// Makes the normalization of a kind of images. Throws std::invalid_argument if the number of values does not match the
/// channels. Reads `training_images` only if statistics of the data are needed.
Normalization make_normalization(const NormalizationOptions& options, const ImageKind& kind,
                                 const ImageSource& training_images);

/// Converts a normalised image (C, H, W) back to pixels (H, W, C) uint8.
at::Tensor pixels_of_normalized(const at::Tensor& image, const Normalization& normalization);

/// Returns the whole data set as a normalised matrix (N, C·H·W) float32, the input of a linear baseline.
at::Tensor flattened_images(const ImageSource& images, const Normalization& normalization);

}  // namespace cachet::data
