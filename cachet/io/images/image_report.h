#pragma once

#include <cstdint>
#include <string>

#include "cachet/io/images/image_request.h"

namespace cachet::io {

/// The results of decoding an image file, without the pixels.
struct ImageReport {
  ImageSize size;  // size of the whole image, as it is stored
  int64_t warnings = 0;
  std::string first_warning;

  void warn(const char* text) {
    if (warnings++ == 0) first_warning.assign(text);
  }
};

}  // namespace cachet::io
