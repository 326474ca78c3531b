#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "cachet/data/text/sequences/sequence_builder.h"
#include "cachet/data/vision/dataset_options.h"

namespace cachet::data {

inline constexpr int64_t kPixelSide = 32;    // side of an image that becomes a sequence
inline constexpr int64_t kGreyValues = 256;  // 0 … 255, the token ids

/// Returns the grey value of a pixel by the rule of the Long Range Arena's image task, which is TensorFlow's rule:
/// weights 0.2989, 0.5870 and 0.1140 in float32 on [0, 1], times 255.5, rounded down.
uint8_t arena_grey(uint8_t red, uint8_t green, uint8_t blue);

/// Returns the grey values of an image (3, H, W) uint8, row by row.
std::vector<Token> pixel_tokens(const at::Tensor& image);

/// Returns the grey values of a JPEG or PNG file. The whole image is first resized to kPixelSide ×
/// kPixelSide (bicubic). Calls `see_bytes` with the bytes of the file. If the file cannot be read, throws io::Error,
/// which names the file.
std::vector<Token> pixel_tokens_of_file(const std::filesystem::path& file,
                                        const std::function<void(std::span<const std::byte> bytes)>& see_bytes = {});

/// Reads each image of CIFAR-10 as 1,024 grey values 0 … 255, row by row. The grey value of a pixel is its token id.
std::shared_ptr<const SequenceDataset> read_cifar10_pixels(const std::filesystem::path& folder, Split split,
                                                           const SequenceRules& rules);

}  // namespace cachet::data
