#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/vision/dataset_options.h"
#include "cachet/data/vision/labelled_images.h"

namespace cachet::data {

/// All that is peculiar to one kind of image data. To add a kind is to add its record to the table in image_kinds.cpp.
struct ImageKind {
  std::string_view name;     // as recipes write it
  ImageShape shape;          // of its images, height and width 0 if each has its own; a guess if only files have it
  int64_t classes = 10;      // as many as it has, or the default if the recipe sets them
  int64_t most_classes = 0;  // that a recipe may set; 0: the kind has a fixed number
  std::vector<std::string> (*class_names)(int64_t classes) = nullptr;  // without a look at the files
  std::vector<std::string> (*names_in)(const DatasetOptions& options,
                                       const std::filesystem::path& root) = nullptr;  // as the files have them
  std::span<const double> mean, std;  // of each channel over the full training set, in [0, 1]; empty = not known
  std::string (*expected_files)(const DatasetOptions& options) = nullptr;  // what should lie in the folder, in words
  std::shared_ptr<const LabelledImages> (*open)(const DatasetOptions& options, Split split,
                                                const std::filesystem::path& root,
                                                const IndexProgress& progress) = nullptr;
  bool files_tell_size = false;    // how large the images are stands in the files; `shape` is a guess
  bool has_class_folders = false;  // files are decoded one by one: the keys of ClassFolderOptions are read

  bool own_sizes() const { return shape.height == 0; }
};

/// In the order in which messages list them.
std::span<const ImageKind* const> image_kinds();

/// Those that code names. mnist and fashion_mnist are IDX files with known class names and statistics; class_folders is
/// a folder of JPEG and PNG files for each class.
extern const ImageKind kIdx, kMnist, kFashionMnist, kCifar10, kCifar100, kClassFolders;

}  // namespace cachet::data
