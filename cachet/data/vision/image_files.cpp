#include "cachet/data/vision/image_files.h"

#include <span>
#include <system_error>
#include <utility>

namespace cachet::data {

std::shared_ptr<ImageNotes> damaged_images() {
  return std::make_shared<ImageNotes>("damaged image, decoded all the same", "damaged images, decoded all the same");
}

void note_damage(const std::filesystem::path& file, const io::DecodedImage& image, ImageNotes& notes) {
  if (image.warnings > 0) notes.add(file.string() + ": " + image.first_warning);
}

ImageFiles::ImageFiles(std::filesystem::path folder, std::vector<std::string> names, const ImageFileOptions& options)
    : folder_(std::move(folder)), names_(std::move(names)), options_(options) {}

at::Tensor ImageFiles::region(int64_t index, const io::ImageChooser& choose) const {
  io::ImageReadOptions options;
  options.channels = options_.channels == 1 ? io::ImageChannels::grey : io::ImageChannels::rgb;
  options.strict = options_.strict_images;
  options.choose = choose;
  if (digests_->is_kept())
    options.see_bytes = [&](std::span<const std::byte> bytes) { digests_->add(index, digest_of(bytes)); };
  const io::DecodedImage image = io::read_image(path(index), options);
  note_damage(path(index), image, *notes_);
  return image.pixels;
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
    std::error_code unreadable;  // whoever opens the file says so
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
