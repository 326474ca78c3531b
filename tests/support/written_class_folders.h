#pragma once

#include <filesystem>
#include <string>

#include "tests/support/bytes.h"
#include "tests/support/jpeg_files.h"

namespace cachet::test {

/// root/train/<class>/<i>.jpg and root/val/<class>/<i>.jpg; sizes differ from image to image, shades from class to
/// class.
inline void write_class_folders(const std::filesystem::path& root, const std::vector<std::string>& classes,
                                int training, int validation) {
  for (const auto& [split, count] : {std::pair<std::string, int>{"train", training}, {"val", validation}}) {
    for (size_t c = 0; c < classes.size(); ++c) {
      const std::filesystem::path folder = root / split / classes[c];
      std::filesystem::create_directories(folder);
      for (int i = 0; i < count; ++i) {
        const int components = c % 2 == 0 ? 3 : 1;
        write_bytes(folder / (std::to_string(i) + ".jpg"),
                    jpeg_file(30 + 7 * i, 50 - 3 * i, {.components = components}));
      }
    }
  }
}

}  // namespace cachet::test
