#include "cachet/data/vision/image_source.h"

#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>

#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace cachet::data {

at::Tensor ImageSource::region(int64_t index, const io::ImageChooser& choose) const {
  const at::Tensor whole = image(index);
  const io::ImageSize size{whole.size(1), whole.size(2)};
  const io::ImageRegion region = choose(size).region;
  if (!region.fits(size)) throw std::invalid_argument("the requested region must lie inside the image");
  return whole.narrow(1, region.top, region.height)
      .narrow(2, region.left, region.width)
      .permute({1, 2, 0})
      .clone(at::MemoryFormat::Contiguous);
}

std::optional<StoredBytes> ImageSource::stored(int64_t index) const {
  const auto path = file(index);
  if (!path) return std::nullopt;
  std::error_code unreadable;
  const auto size = std::filesystem::file_size(*path, unreadable);
  if (unreadable) return std::nullopt;
  return StoredBytes{*path, 0, size, path->string()};
}

StoredImages::StoredImages(at::Tensor images) {
  if (!images.defined() || images.dim() != 4 || images.scalar_type() != at::kByte)
    throw std::invalid_argument("images must be a uint8 tensor (N, C, H, W)");
  images_ = images.contiguous();
}

at::Tensor StoredImages::image(int64_t index) const {
  if (index < 0 || index >= size())
    throw std::out_of_range("image " + std::to_string(index) + " of " + std::to_string(size()));
  return images_.select(0, index);
}

DataDigest StoredImages::digest() const {
  const std::span pixels(reinterpret_cast<const std::byte*>(images_.const_data_ptr<uint8_t>()), images_.nbytes());
  return {.contents = Fingerprint().add(images_.sizes()).add(pixels).text()};
}

std::string StoredImages::image_digest(int64_t index) const {
  const at::Tensor pixels = image(index);
  return digest_of({reinterpret_cast<const std::byte*>(pixels.const_data_ptr<uint8_t>()), pixels.nbytes()});
}

void StoredImages::add_to(Fingerprint& fingerprint) const {
  fingerprint.add(images_.sizes());
  const size_t bytes = static_cast<size_t>(shape().numel());
  const auto* pixels = reinterpret_cast<const std::byte*>(images_.const_data_ptr<uint8_t>());
  Fingerprint::for_some(
      size(), [&](int64_t index) { fingerprint.add(std::span(pixels + static_cast<size_t>(index) * bytes, bytes)); });
}

std::shared_ptr<const ImageSource> StoredImages::subset(const std::vector<int64_t>& indices) const {
  return std::make_shared<StoredImages>(at::index_select(images_, 0, at::tensor(indices, at::kLong)));
}

}  // namespace cachet::data
