#include "cachet/data/vision/image_files.h"

#include <array>
#include <span>
#include <system_error>
#include <utility>

namespace cachet::data {
namespace {

constexpr std::array<config::Choice<io::OrientationRule>, 2> kOrientationRules{
    {{"apply", io::OrientationRule::apply}, {"ignore", io::OrientationRule::ignore}}};

}  // namespace

io::OrientationRule read_orientation(const config::View& view, io::OrientationRule usual) {
  return view.choice("orientation", usual, kOrientationRules);
}

std::string_view to_string(io::OrientationRule rule) { return rule == io::OrientationRule::apply ? "apply" : "ignore"; }

void ImageFileNotes::add(const std::filesystem::path& file, const io::DecodedImage& image, io::OrientationRule rule) {
  if (image.warnings > 0) warned_.add(file.string() + ": " + image.first_warning);
  if (image.orientation == 1 || rule == io::OrientationRule::apply) return;
  const std::lock_guard lock(mutex_);
  not_upright_.insert(file);
}

std::vector<std::string> ImageFileNotes::lines() const {
  std::vector<std::string> lines = warned_.lines();
  const std::lock_guard lock(mutex_);
  if (not_upright_.empty()) return lines;
  const size_t count = not_upright_.size();
  lines.push_back(std::to_string(count) + (count == 1 ? " image is" : " images are") +
                  " stored rotated or mirrored, and not turned upright; to turn such images upright, set "
                  "data.orientation = \"apply\". One of these images is " +
                  not_upright_.begin()->string());
  return lines;
}

ImageFiles::ImageFiles(std::filesystem::path folder, std::vector<std::string> names, const ImageFileOptions& options)
    : folder_(std::move(folder)), names_(std::move(names)), options_(options) {}

io::ImageReadOptions read_options(const ImageFileOptions& options, const io::ImageChooser& choose) {
  io::ImageReadOptions read;
  read.channels = options.channels == 1 ? io::ImageChannels::grey : io::ImageChannels::rgb;
  read.strict = options.strict_images;
  read.choose = choose;
  read.orientation = options.orientation;
  return read;
}

io::DecodedImage ImageFiles::decoded(int64_t index, const io::ImageChooser& choose) const {
  io::ImageReadOptions options = read_options(options_, choose);
  if (digests_->is_kept())
    options.see_bytes = [&](std::span<const std::byte> bytes) { digests_->add(index, digest_of(bytes)); };
  io::DecodedImage image = io::read_image(path(index), options);
  notes_->add(path(index), image, options_.orientation);
  return image;
}

at::Tensor ImageFiles::image(int64_t index) const { return region(index, {}).permute({2, 0, 1}).contiguous(); }

DataDigest ImageFiles::digest() const {
  FileDigests files = digests_of_files(folder_, names_);
  return {.files = std::move(files.names_and_sizes), .times = std::move(files.times)};
}

std::string ImageFiles::image_digest(int64_t index) const {
  if (auto read = digests_->find(index)) return *std::move(read);
  std::string digest = digest_of_image_file(path(index));
  if (digests_->is_kept()) digests_->add(index, digest);
  return digest;
}

void ImageFiles::add_to(Fingerprint& fingerprint) const {
  for (const std::string& name : names_) fingerprint.add(name);
  Fingerprint::for_some(size(), [&](int64_t index) {
    std::error_code unreadable;  // the reader of the file reports it
    fingerprint.add(static_cast<int64_t>(std::filesystem::file_size(path(index), unreadable)));
  });
}

std::shared_ptr<const ImageSource> ImageFiles::subset(const std::vector<int64_t>& indices) const {
  std::vector<std::string> names;
  names.reserve(indices.size());
  for (const int64_t index : indices) names.push_back(names_.at(static_cast<size_t>(index)));
  return std::make_shared<ImageFiles>(folder_, std::move(names), options_);
}

}  // namespace cachet::data
