#pragma once

#include <memory>

#include "cachet/config/view.h"
#include "cachet/data/vision/image_notes.h"

namespace cachet::data {

/// The treatment of an image that cannot be decoded.
enum class OnBadImage {
  stop,  // the run ends with an error that names the image
  skip,  // batches leave the image out, and the run's log names it
};
/// Reads the key on_bad_image: "stop" or "skip".
OnBadImage read_on_bad_image(const config::View& view);
/// Makes an empty list of skipped images.
std::shared_ptr<ImageNotes> skipped_images();

/// The end of the error message with OnBadImage::stop.
inline constexpr const char* kHowToSkipImages = "; to leave out such images, set data.on_bad_image = \"skip\"";

}  // namespace cachet::data
