#include "cachet/data/vision/labelled_images.h"

#include <ATen/ops/tensor.h>

#include <stdexcept>
#include <utility>

namespace cachet::data {

ClassLabels::ClassLabels(std::vector<int64_t> labels, std::vector<std::string> class_names)
    : labels_(std::move(labels)), class_names_(std::move(class_names)) {
  for (const int64_t label : labels_) {
    if (label < 0 || label >= classes())
      throw std::invalid_argument("label " + std::to_string(label) + " must be below the number of classes, " +
                                  std::to_string(classes()));
  }
}

at::Tensor ClassLabels::tensor() const { return at::tensor(labels_, at::kLong); }

ClassLabels ClassLabels::with_classes(const std::vector<int64_t>& to, std::vector<std::string> class_names) const {
  std::vector<int64_t> labels;
  labels.reserve(labels_.size());
  for (const int64_t label : labels_) labels.push_back(to.at(static_cast<size_t>(label)));
  return {std::move(labels), std::move(class_names)};
}

ClassLabels ClassLabels::subset(const std::vector<int64_t>& indices) const {
  std::vector<int64_t> labels;
  labels.reserve(indices.size());
  for (const int64_t index : indices) labels.push_back((*this)[index]);
  return {std::move(labels), class_names_};
}

LabelledImages::LabelledImages(std::shared_ptr<const ImageSource> images, ClassLabels labels,
                               std::optional<PassedOver> passed_over)
    : images_(std::move(images)), labels_(std::move(labels)), passed_over_(std::move(passed_over)) {
  if (images_->size() != labels_.size()) {
    throw std::invalid_argument(std::to_string(images_->size()) + " images but " + std::to_string(labels_.size()) +
                                " labels");
  }
}

DataDigest LabelledImages::digest() const {
  DataDigest digest = images_->digest();
  Fingerprint contents;
  contents.add(size()).add(labels_.values());
  for (const std::string& name : labels_.class_names()) contents.add(name);
  digest.contents = contents.add(digest.contents).text();
  return digest;
}

std::string LabelledImages::sample_digest(int64_t index) const {
  const int64_t label = labels_[index];
  return Fingerprint()
      .add(label)
      .add(labels_.class_names()[static_cast<size_t>(label)])
      .add(images_->image_digest(index))
      .text();
}

std::string LabelledImages::fingerprint() const {
  Fingerprint fingerprint;
  fingerprint.add(size()).add(labels_.values());
  for (const std::string& name : labels_.class_names()) fingerprint.add(name);
  images_->add_to(fingerprint);
  return fingerprint.text();
}

std::shared_ptr<const LabelledImages> LabelledImages::with_classes(const std::vector<int64_t>& to,
                                                                   std::vector<std::string> class_names) const {
  auto same = std::make_shared<LabelledImages>(images_, labels_.with_classes(to, std::move(class_names)), passed_over_);
  same->split_size_ = split_size_;
  return same;
}

std::shared_ptr<const LabelledImages> LabelledImages::subset(const std::vector<int64_t>& indices,
                                                             int64_t split_size) const {
  auto part = std::make_shared<LabelledImages>(images_->subset(indices), labels_.subset(indices), passed_over_);
  part->split_size_ = split_size;
  return part;
}

}  // namespace cachet::data
