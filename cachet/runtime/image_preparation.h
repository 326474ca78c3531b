#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "cachet/runtime/export_manifest.h"
#include "cachet/runtime/pixels.h"

namespace cachet::runtime {

/// Decodes a JPEG or PNG image, recognised by its first bytes, to grey (1 channel) or RGB (3 channels). Applies the
/// EXIF orientation if `orientation` requires it. Throws io::Error, whose message begins with `name`.
Pixels decode(std::span<const std::byte> bytes, std::string_view name, int64_t channels,
              io::OrientationRule orientation = io::OrientationRule::ignore);

/// Prepares an image as the input of a model: (channels, height, width).
std::vector<float> prepare(const Pixels& image, const ImagePreparation& preparation);

/// Reads and prepares an image file. Throws io::Error.
std::vector<float> prepare_file(const std::filesystem::path& file, const ImagePreparation& preparation);

}  // namespace cachet::runtime
