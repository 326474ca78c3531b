#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cachet/runtime/export_manifest.h"
#include "cachet/runtime/session.h"

namespace cachet::runtime {

/// A class that an exported model predicts for an image, with its probability.
struct Guess {
  int64_t label = 0;
  std::string name;
  double probability = 0;
};

/// An exported classifier of images, ready to run, for programs that do not train. The export must be for OpenVINO,
/// written by `cachet export --engine openvino`.
class ImageClassifier {
 public:
  /// Throws io::Error if the folder is not an OpenVINO export, and std::runtime_error if OpenVINO rejects the model.
  explicit ImageClassifier(const std::filesystem::path& folder, const SessionOptions& options);
  /// Opens the folder and uses the precision of the export.
  explicit ImageClassifier(const std::filesystem::path& folder);

  const ExportManifest& manifest() const { return manifest_; }

  /// Returns the `top` most probable classes of each JPEG or PNG file, in descending order of probability. All files
  /// form one batch. Throws io::Error, which names the file, if a file cannot be read.
  std::vector<std::vector<Guess>> classify(const std::vector<std::filesystem::path>& files, int64_t top = 5);

 private:
  ExportManifest manifest_;
  std::unique_ptr<Session> session_;
};

}  // namespace cachet::runtime
