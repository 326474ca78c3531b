#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cachet/runtime/export_manifest.h"
#include "cachet/runtime/session.h"

namespace cachet::runtime {

/// A class that an image may be of.
struct Guess {
  int64_t label = 0;
  std::string name;
  double probability = 0;
};

/// An exported classifier of images, ready to run: what a program that only answers needs. It runs OpenVINO's form;
/// `cachet export --engine openvino` writes it.
class ImageClassifier {
 public:
  /// Throws io::Error for a folder that is not such an export, std::runtime_error if OpenVINO refuses it.
  explicit ImageClassifier(const std::filesystem::path& folder, const SessionOptions& options);
  /// In the precision that it was exported for.
  explicit ImageClassifier(const std::filesystem::path& folder);

  const ExportManifest& manifest() const { return manifest_; }

  /// The `top` most probable classes of each JPEG or PNG file, most probable first; all files are one batch. Throws
  /// io::Error that names the file.
  std::vector<std::vector<Guess>> classify(const std::vector<std::filesystem::path>& files, int64_t top = 5);

 private:
  ExportManifest manifest_;
  std::unique_ptr<Session> session_;
};

}  // namespace cachet::runtime
