#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/vision/image_digests.h"
#include "cachet/data/vision/image_notes.h"
#include "cachet/data/vision/image_source.h"
#include "cachet/io/tensors/image.h"

namespace cachet::data {

struct ImageFileOptions {
  int64_t channels = 3;        // 1: all images become grey; 3: grey images become RGB
  bool strict_images = false;  // whether warnings of the decoder are errors
  io::OrientationRule orientation = io::OrientationRule::ignore;
};

/// Returns the options with which an image file is decoded: `options`, and the region that `choose` chooses.
io::ImageReadOptions read_options(const ImageFileOptions& options, const io::ImageChooser& choose);

/// Reads the key orientation, the treatment of the EXIF orientation: "apply" or "ignore".
io::OrientationRule read_orientation(const config::View& view, io::OrientationRule usual);
/// Returns "apply" or "ignore".
std::string_view to_string(io::OrientationRule rule);

/// Notes on image files that were read with a decoder warning, or that were not turned upright. Several threads may
/// call the members at the same time.
class ImageFileNotes {
 public:
  /// Adds notes on a file that was decoded. `rule` is the orientation rule with which the file was read.
  void add(const std::filesystem::path& file, const io::DecodedImage& image, io::OrientationRule rule);
  /// Returns lines for a run's notes: files with decoder warnings, and how many files were not turned upright.
  std::vector<std::string> lines() const;

 private:
  ImageNotes warned_{"image read with a warning", "images read with a warning"};
  mutable std::mutex mutex_;
  std::set<std::filesystem::path> not_upright_;
};

/// JPEG and PNG files of a folder, decoded on demand. The images may have different sizes.
class ImageFiles final : public ImageSource {
 public:
  /// `names` are paths below the folder.
  ImageFiles(std::filesystem::path folder, std::vector<std::string> names, const ImageFileOptions& options = {});

  int64_t size() const override { return static_cast<int64_t>(names_.size()); }
  ImageShape shape() const override { return {options_.channels, 0, 0}; }
  at::Tensor image(int64_t index) const override;
  at::Tensor region(int64_t index, const io::ImageChooser& choose) const override {
    return decoded(index, choose).pixels;
  }
  /// Returns the same image as region(), with the results of decoding (io::DecodedImage).
  io::DecodedImage decoded(int64_t index, const io::ImageChooser& choose) const;
  DataDigest digest() const override;
  std::string image_digest(int64_t index) const override;
  std::optional<std::filesystem::path> file(int64_t index) const override { return path(index); }
  FileFaults file_faults() const override { return faults_of_files(folder_, names_); }
  void keep_digests() const override { digests_->keep(); }
  std::vector<int64_t> files_read() const override { return digests_->images(); }
  void add_to(Fingerprint& fingerprint) const override;
  std::shared_ptr<const ImageSource> subset(const std::vector<int64_t>& indices) const override;
  std::vector<std::string> notes() const override { return notes_->lines(); }

  std::filesystem::path path(int64_t index) const { return folder_ / names_.at(static_cast<size_t>(index)); }

 private:
  std::filesystem::path folder_;
  std::vector<std::string> names_;
  ImageFileOptions options_;
  std::shared_ptr<ImageFileNotes> notes_ = std::make_shared<ImageFileNotes>();
  std::shared_ptr<ImageDigests> digests_ = std::make_shared<ImageDigests>();
};

}  // namespace cachet::data
