#include "cachet/data/vision/coco/detection_set.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <system_error>
#include <utility>

#include "cachet/config/counted.h"
#include "cachet/data/fingerprint.h"
#include "cachet/data/named_by.h"
#include "cachet/io/error.h"
#include "cachet/io/images/upright.h"

namespace cachet::data {
namespace {

using geometry::Size;

std::vector<std::string> image_names(const CocoInstances& instances) {
  std::vector<std::string> names;
  for (const CocoImage& image : instances.images()) names.push_back(image.file_name);
  return names;
}

std::string size_text(const Size& size) { return std::to_string(size.width) + " × " + std::to_string(size.height); }

}  // namespace

DetectionSet::DetectionSet(std::shared_ptr<const CocoInstances> instances, std::filesystem::path folder,
                           DetectionSetOptions options)
    : instances_(std::move(instances)),
      options_(std::move(options)),
      files_(std::move(folder), image_names(*instances_),
             {.strict_images = options_.strict_images, .orientation = options_.orientation}) {
  const std::vector<CocoCategory>& categories = instances_->categories();
  class_names_ = options_.class_names;
  if (class_names_.empty()) {
    for (const CocoCategory& category : categories) class_names_.push_back(category.name);
  }
  match_classes();
  const bool has_all = std::ranges::find(category_ids_, int64_t{-1}) == category_ids_.end();
  const OtherCategories usual = has_all ? OtherCategories::leave_out : OtherCategories::refuse;
  if (options_.other_categories.value_or(usual) == OtherCategories::refuse) require_known_categories();
  for (int64_t i = 0; i < static_cast<int64_t>(instances_->images().size()); ++i) {
    const auto annotations = instances_->annotations(i);
    const Size& size = instances_->images()[static_cast<size_t>(i)].size;
    const bool used =
        std::any_of(annotations.begin(), annotations.end(), [&](const auto& a) { return has_class(a); }) &&
        std::min(size.height, size.width) >= options_.least_side;
    if (used || options_.empty_images == EmptyImages::keep) kept_.push_back(i);
  }
  left_out_ = static_cast<int64_t>(instances_->images().size() - kept_.size());
  if (kept_.empty())
    throw io::Error(instances_->name() + ": none of its " + std::to_string(instances_->images().size()) +
                    " images can be used: each has no object of the classes, or a side of less than " +
                    std::to_string(options_.least_side) + " pixels");
}

void DetectionSet::match_classes() {
  const std::vector<CocoCategory>& categories = instances_->categories();
  label_of_.assign(categories.size(), -1);
  bool has_any = false;
  for (size_t label = 0; label < class_names_.size(); ++label) {
    const auto found = std::find_if(categories.begin(), categories.end(),
                                    [&](const CocoCategory& category) { return category.name == class_names_[label]; });
    if (found != categories.end()) {
      label_of_[static_cast<size_t>(found - categories.begin())] = static_cast<int64_t>(label);
      has_any = true;
    } else if (!options_.may_lack_classes) {
      throw io::Error(instances_->name() + ": has no category " + io::in_quotes(class_names_[label]) +
                      ", which is one of the " + std::to_string(class_names_.size()) + " classes of the model");
    }
    category_ids_.push_back(found == categories.end() ? -1 : found->id);
  }
  if (!has_any)
    throw io::Error(instances_->name() + ": has none of the model's " + std::to_string(class_names_.size()) +
                    " classes (" + io::in_quotes(class_names_.front()) + ", …) among its categories");
}

void DetectionSet::require_known_categories() const {
  for (int64_t image = 0; image < static_cast<int64_t>(instances_->images().size()); ++image)
    for (const CocoAnnotation& annotation : instances_->annotations(image))
      if (!has_class(annotation))
        throw io::Error(instances_->name() + ": has objects of category " +
                        io::in_quotes(instances_->categories()[static_cast<size_t>(annotation.category)].name) +
                        ", which is not a class of the model; to evaluate without such objects, set "
                        "data.other_categories = \"leave_out\"");
}

at::Tensor DetectionSet::pixels(int64_t index) const {
  const CocoImage& stated = image(index);
  const io::DecodedImage image = files_.decoded(kept_.at(static_cast<size_t>(index)), {});
  const Size size{image.size.height, image.size.width};
  if (size == stated.size) return image.pixels;
  const bool applies = options_.orientation == io::OrientationRule::apply;
  std::string message = path(index).string() + ": is " + size_text(size) + " pixels" +
                        (image.orientation == 1 ? ""
                         : applies              ? " upright"
                                                : " as stored") +
                        ", but " + instances_->name() + " states " + size_text(stated.size);
  const io::ImageSize turned = io::upright_size(image.size, image.orientation);  // there and back
  if (Size{turned.height, turned.width} == stated.size)
    message += applies ? ", the size of the picture as stored. If the annotations belong to the stored picture, set "
                         "data.orientation = \"ignore\""
                       : ", the size of the upright picture (EXIF orientation). If the annotations belong to the "
                         "upright picture, set data.orientation = \"apply\"";
  throw io::Error(message);
}

DetectionObjects DetectionSet::objects(int64_t index) const {
  DetectionObjects objects;
  for (const CocoAnnotation& annotation : annotations(index)) {
    if (!annotation.trained) continue;
    const geometry::Box box = corners(annotation.box);
    if (annotation.crowd) {
      objects.crowds.push_back(box);
      continue;
    }
    if (options_.masks) {
      auto mask = instances_->mask(annotation);
      if (!mask) continue;
      objects.masks.push_back(*std::move(mask));
    }
    objects.boxes.push_back(box);
    objects.labels.push_back(annotation.category);
  }
  return objects;
}

std::vector<CocoAnnotation> DetectionSet::annotations(int64_t index) const {
  std::vector<CocoAnnotation> found;
  for (CocoAnnotation annotation : instances_->annotations(kept_.at(static_cast<size_t>(index)))) {
    if (!has_class(annotation)) continue;
    annotation.category = static_cast<int32_t>(label_of_[static_cast<size_t>(annotation.category)]);
    found.push_back(annotation);
  }
  return found;
}

bool DetectionSet::has_objects() const {
  return std::ranges::any_of(kept_, [&](int64_t image) {
    return std::ranges::any_of(instances_->annotations(image), [&](const CocoAnnotation& annotation) {
      return has_class(annotation) && !annotation.crowd;
    });
  });
}

std::shared_ptr<const DetectionSet> DetectionSet::subset(const std::vector<int64_t>& indices,
                                                         int64_t split_size) const {
  auto part = std::make_shared<DetectionSet>(*this);
  part->split_size_ = split_size;
  part->kept_.clear();
  for (const int64_t index : indices) part->kept_.push_back(kept_.at(static_cast<size_t>(index)));
  return part;
}

DataDigest DetectionSet::digest() const {
  DataDigest digest = images()->digest();
  Fingerprint contents;
  contents.add(instances_->digest()).add(kept_);
  for (const std::string& name : class_names_) contents.add(name);
  digest.contents = contents.text();
  return digest;
}

std::string DetectionSet::sample_digest(int64_t index) const {
  const CocoImage& stated = image(index);
  Fingerprint sample;
  sample.add(stated.id).add(stated.file_name).add(stated.size.height).add(stated.size.width);
  const int64_t number = kept_.at(static_cast<size_t>(index));
  for (const CocoAnnotation& annotation : instances_->annotations(number)) instances_->add_to(sample, annotation);
  return sample.add(files_.image_digest(number)).text();
}

std::string DetectionSet::fingerprint() const {
  Fingerprint fingerprint;
  for (const std::string& name : class_names_) fingerprint.add(name);
  for (const int64_t image : kept_) {
    const CocoImage& stated = instances_->images()[static_cast<size_t>(image)];
    fingerprint.add(stated.id).add(stated.file_name).add(stated.size.height).add(stated.size.width);
    for (const CocoAnnotation& annotation : instances_->annotations(image)) {
      fingerprint.add(annotation.id).add(annotation.category).add(int64_t{annotation.crowd});
      fingerprint.add(std::as_bytes(std::span(&annotation.box, 1)));
    }
  }
  return fingerprint.text();
}

std::vector<std::string> DetectionSet::notes() const {
  std::vector<std::string> lines = instances_->notes().lines();
  const auto all = static_cast<int64_t>(instances_->images().size());
  if (left_out_ > 0)
    lines.push_back(config::counted(left_out_, "image", "images") +
                    " left out: no object of the classes, or too small");
  int64_t others = 0, maskless = 0;
  for (int64_t i = 0; i < all; ++i) {
    for (const CocoAnnotation& annotation : instances_->annotations(i)) {
      others += has_class(annotation) ? 0 : 1;
      maskless += has_class(annotation) && annotation.form == CocoAnnotation::Form::none ? 1 : 0;
    }
  }
  if (others > 0)
    lines.push_back(config::counted(others, "annotation", "annotations") +
                    " left out: the category is not a class of the model");
  if (maskless > 0 && options_.masks)
    lines.push_back(config::counted(maskless, "object has", "objects have") +
                    " no mask: used for box AP, but not for mask AP or for training");
  for (std::string& line : lines) line = instances_->name() + ": " + line;
  return lines;
}

std::shared_ptr<const DetectionSet> open_detection_set(const std::filesystem::path& annotations,
                                                       const std::filesystem::path& images,
                                                       const DetectionSetOptions& options, const std::string& keys) {
  const std::string of_annotations = keys + "_annotations";
  auto instances = named_by({"data.root", of_annotations},
                            [&] { return std::make_shared<const CocoInstances>(CocoInstances::read(annotations)); });
  if (options.needs_annotations && !instances->has_annotations())
    throw io::Error(annotations.string() + ": has no 'annotations', which training needs; set " + of_annotations +
                    " to a COCO file with annotations");
  auto set = named_by({of_annotations},
                      [&] { return std::make_shared<const DetectionSet>(std::move(instances), images, options); });
  std::error_code unreadable;  // as of a name that is too long
  if (!std::filesystem::exists(set->path(0), unreadable))
    throw io::Error(set->path(0).string() + (unreadable ? ": " + unreadable.message() : ": does not exist") + ", but " +
                    annotations.string() + " lists it; set " + keys + "_images to the folder of the images");
  return set;
}

}  // namespace cachet::data
