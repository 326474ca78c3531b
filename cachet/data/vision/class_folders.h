#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cachet/data/vision/dataset_options.h"

namespace cachet::data {

/// Finds the image files of one split below root/<train or validation folder>/<class>/, at any depth, sorted by name
/// byte by byte. The classes are options.class_names, or class_folder_names() if the option is empty. If the root has
/// neither a training folder nor a validation folder, the root itself is the validation split. Ignores hidden files.
/// Files without an image ending (.jpg, .jpeg, .jpe, .jfif, .png in any case) are errors, or ignored if
/// skip_other_files is true. Throws io::Error, which names the folder or file, for a file without an image ending
/// (unless skip_other_files is true), a missing split, no classes, a class without images, a folder that is not a
/// class, a class without a training folder, and a wrong number of classes.
std::shared_ptr<const LabelledImages> open_class_folders(const std::filesystem::path& root, Split split,
                                                         const DatasetOptions& options, const IndexProgress& progress);

/// Returns the sorted names of the training split's folders. If the training split is missing, as in pure evaluation,
/// uses the validation split. Throws io::Error if both splits are missing, or if the split has no folders.
std::vector<std::string> class_folder_names(const DatasetOptions& options, const std::filesystem::path& root);

}  // namespace cachet::data
