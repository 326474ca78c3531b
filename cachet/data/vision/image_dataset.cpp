#include "cachet/data/vision/image_dataset.h"

#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>

#include <stdexcept>
#include <utility>

namespace cachet::data {

at::Tensor ImageDataset::region(int64_t index, const io::ImageChooser& choose) const {
  const at::Tensor whole = image(index);
  const io::ImageSize size{whole.size(1), whole.size(2)};
  const io::ImageRegion region = choose(size).region;
  if (!region.fits(size)) throw std::invalid_argument("the region that is wanted does not lie in the image");
  return whole.narrow(1, region.top, region.height)
      .narrow(2, region.left, region.width)
      .permute({1, 2, 0})
      .clone(at::MemoryFormat::Contiguous);
}

StoredImages::StoredImages(at::Tensor images, std::vector<int64_t> labels, std::vector<std::string> class_names)
    : images_(std::move(images)), labels_(std::move(labels)), class_names_(std::move(class_names)) {
  if (!images_.defined() || images_.dim() != 4 || images_.scalar_type() != at::kByte) {
    throw std::invalid_argument("images must be a uint8 tensor (N, C, H, W)");
  }
  if (images_.size(0) != size()) {
    throw std::invalid_argument(std::to_string(images_.size(0)) + " images but " + std::to_string(size()) + " labels");
  }
  for (const int64_t label : labels_) {
    if (label < 0 || label >= classes()) {
      throw std::invalid_argument("label " + std::to_string(label) + " is not below " + std::to_string(classes()));
    }
  }
  images_ = images_.contiguous();
  shape_ = {images_.size(1), images_.size(2), images_.size(3)};
}

at::Tensor StoredImages::image(int64_t index) const {
  if (index < 0 || index >= size()) {
    throw std::out_of_range("image " + std::to_string(index) + " of " + std::to_string(size()));
  }
  return images_.select(0, index);
}

std::shared_ptr<const ImageDataset> StoredImages::subset(const std::vector<int64_t>& indices) const {
  std::vector<int64_t> labels;
  labels.reserve(indices.size());
  for (const int64_t index : indices) labels.push_back(label(index));
  return std::make_shared<StoredImages>(at::index_select(images_, 0, at::tensor(indices, at::kLong)), std::move(labels),
                                        class_names_);
}

}  // namespace cachet::data
