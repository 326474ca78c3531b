#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cachet/data/vision/dataset_options.h"

namespace cachet::data {

/// Finds the files of one split below root/<train or validation folder>/<class>/, at any depth, in the order of their
/// names, byte by byte: ImageFiles. Classes are options.class_names, or class_folder_names() if that is empty. A root
/// without either folder is the validation split itself. Ignores hidden files and those to be skipped. Throws io::Error
/// that names the folder or file: a missing split, no classes, a class without images, a folder that is not a class, a
/// class without a training folder, another number of classes than options.classes, files without an image ending
/// (.jpg, .jpeg, .jpe, .jfif, .png in any case) unless they are to be skipped.
std::shared_ptr<const LabelledImages> open_class_folders(const std::filesystem::path& root, Split split,
                                                         const DatasetOptions& options, const IndexProgress& progress);

/// Returns the sorted names of the training split's folders. If that split is missing, as in an evaluation only,
/// returns those of the validation split. Throws io::Error if neither can be read, and if there are none.
std::vector<std::string> class_folder_names(const DatasetOptions& options, const std::filesystem::path& root);

}  // namespace cachet::data
