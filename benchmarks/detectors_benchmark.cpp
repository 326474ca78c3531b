// A training step and inference of Mask R-CNN on PVT-Tiny over two images of 512 x 640 pixels. Prints CSV of what a
// cache adds to a step compared with its products alone, measured in the backbone, which it is part of: detectors
// [--quick]. detectors --serve FILE PRECISION, for benchmarks/detectors.py: writes weights, images and objects to FILE,
// then times what each line that comes in asks for, "training" or "inference", and prints the milliseconds. Its first
// line has the number of regions that show an object in a step, and of objects that are found.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/added_products.h"
#include "benchmarks/csv_rows.h"
#include "benchmarks/pairs.h"
#include "cachet/config/document.h"
#include "cachet/io/tensors/names/name_source.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/detection/boxes/box_sampling.h"
#include "cachet/models/detection/faster_rcnn.h"
#include "cachet/models/detection/heads/mask_pasting.h"
#include "cachet/models/detection/heads/mask_targets.h"
#include "cachet/models/registry.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/optimizer/optimizer.h"

namespace cachet::benchmarks {
namespace {

using at::Tensor;

constexpr int kThreads = 2;
constexpr int64_t kImages = 2, kHeight = 512, kWidth = 640, kObjects = 12, kClasses = 80;
// Classes of heads that were never trained are all as likely, below what counts as found; a trained head decides.
constexpr double kDecisiveness = 40;

std::shared_ptr<models::ObjectDetector> detector_of(const std::vector<std::string>& settings) {
  config::Document document;
  document.set("model.name=mask_rcnn_pvt_tiny_fpn");
  for (const std::string& setting : settings) document.set("model." + setting);
  const auto plan = models::read_object_detector(document.root().table("model"));
  document.finish();
  at::manual_seed(0);
  return plan.build();
}

struct Objects {
  Tensor boxes, labels, masks;  // (n, 4), (n), (n, height, width) of 0 and 1
};

// Ellipses of all sizes with their boxes.
Objects objects_of(int64_t image) {
  at::manual_seed(100 + image);
  const Tensor side = 24 * at::pow(10.0, at::rand({kObjects, 2}));  // 24 to 240 pixels
  const Tensor room = at::tensor({static_cast<double>(kWidth), static_cast<double>(kHeight)}, at::kFloat);
  const Tensor corner = at::rand({kObjects, 2}) * (room - side);
  const Tensor middle = corner + side / 2;
  const auto distance = [&](int64_t axis, int64_t pixels) {
    const Tensor at_pixel = at::arange(pixels, at::kFloat) + 0.5;
    return (at_pixel.unsqueeze(0) - middle.select(1, axis).unsqueeze(1)) / (side.select(1, axis).unsqueeze(1) / 2);
  };
  const Tensor masks = distance(1, kHeight).square().unsqueeze(2) + distance(0, kWidth).square().unsqueeze(1) <= 1;
  return {at::cat({corner, corner + side}, 1), at::randint(kClasses, {kObjects}, at::kLong), masks.to(at::kByte)};
}

class Detector {
 public:
  Detector(const std::vector<std::string>& settings, bool narrow)
      : model_(std::dynamic_pointer_cast<models::FasterRcnn>(detector_of(settings))),
        optimizer_(train::make_optimizer({}, train::parameter_groups(*model_))),
        narrow_(narrow) {
    {
      const at::NoGradGuard no_grad;
      model_->named_parameters()["roi_head.bbox_head.fc_cls.weight"].mul_(kDecisiveness);
    }
    at::manual_seed(1);
    batch_.images = at::randn({kImages, 3, kHeight, kWidth});
    const models::ImageSize size{kHeight, kWidth};
    for (int64_t i = 0; i < kImages; ++i) {
      batch_.sizes.push_back({size, size, size, {1, 1, 1, 1}});
      objects_.push_back(objects_of(i));
      const Objects& here = objects_.back();
      batch_.targets.push_back({here.boxes, here.labels, {}, models::bitmap_mask_targets(here.masks)});
    }
    batch_.priorities = models::counted_priorities(0, 0, {0, 1});
  }

  /// The part of a step that a cache changes, for a gradient that is the maps.
  void backbone_step() {
    model_->train();
    benchmarks::step(model_->backbone().features(batch_.images), model_->backbone().parameters());
  }
  void step() {
    model_->train();
    model_->zero_grad();
    Tensor loss;
    {
      const auto scope = precision();
      loss = model_->losses(batch_).sum();
    }
    loss.backward();
    optimizer_->step({0});  // the weights stay: each step does the same work
  }
  /// What is found, with masks as large as the image.
  int64_t detect() {
    const at::NoGradGuard no_grad;
    model_->eval();
    const auto scope = precision();
    int64_t found = 0;
    for (const models::Detections& image : model_->detect(batch_.images, batch_.sizes)) {
      found += image.boxes.size(0);
      models::paste_masks(image.mask_scores.to(at::kFloat), image.boxes.to(at::kFloat), {kHeight, kWidth}, 0.5);
    }
    return found;
  }

  int64_t regions_with_an_object() {
    const at::NoGradGuard no_grad;
    const auto maps = model_->levels(batch_.images);
    std::vector<Tensor> boxes;
    for (const auto& image :
         model_->rpn().proposals(model_->first_stage(maps), batch_.sizes, model_->rpn().options().train))
      boxes.push_back(image.boxes);
    int64_t count = 0;
    for (const auto& image : model_->roi().samples(boxes, batch_)) count += image.positive_count();
    return count;
  }

  void write(const std::filesystem::path& path) const {
    io::TensorMap all = io::to_their_names(io::NameSource::mmdetection, io::state_dict(*model_), {kHeight, kWidth, {}});
    all["benchmark.images"] = batch_.images;
    for (size_t i = 0; i < objects_.size(); ++i) {
      const std::string image = "benchmark." + std::to_string(i);
      all[image + ".boxes"] = objects_[i].boxes;
      all[image + ".labels"] = objects_[i].labels;
      all[image + ".masks"] = objects_[i].masks;
    }
    io::write_safetensors(path, all);
  }

 private:
  train::PrecisionScope precision() const {
    return {narrow_ ? train::Precision::bfloat16 : train::Precision::float32, c10::kCPU};
  }

  std::shared_ptr<models::FasterRcnn> model_;
  std::unique_ptr<train::Optimizer> optimizer_;
  bool narrow_;
  models::DetectionBatch batch_;
  std::vector<Objects> objects_;
};

int serve(const std::string& file, const std::string& precision) {
  // Positions of a classifier, which are interpolated, as detectors begin.
  Detector detector({"image_size=224"}, precision == "bf16");
  detector.write(file);
  detector.step();
  std::cout << "ready " << detector.regions_with_an_object() << " " << detector.detect() << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << milliseconds_of([&] { line == "training" ? detector.step() : void(detector.detect()); }) << std::endl;
  return 0;
}

// --- what a cache adds to a step -------------------------------------------------------------------------------------

// Of the two blocks of each stage, at this image's size: the first stages' caches are pooled, as in the recipe for
// COCO.
std::vector<AddedProducts> added_products() {
  struct Stage {
    int64_t map, dim, heads, pool, reduction;
  };
  std::vector<AddedProducts> all;
  for (const Stage& s : {Stage{4, 64, 1, 4, 8}, {8, 128, 2, 2, 4}, {16, 320, 5, 1, 2}, {32, 512, 8, 1, 1}}) {
    const int64_t height = kHeight / s.map, width = kWidth / s.map, kept = s.pool * s.pool;
    CachedLayerSize size{kImages, height * width, height * width / kept, s.dim / 2, s.heads};
    if (s.reduction > 1) size.reduction = {height / s.pool, width / s.pool, s.reduction};
    for (int block = 0; block < 2; ++block) all.emplace_back(size, at::kFloat, /*training=*/true, CacheRead::mean);
  }
  return all;
}

void cache_row(int turns) {
  const std::string size = "image_size=[512, 640]";
  Detector plain({size}, false), cached({size, "cache.kind=grc", "cache.ratio=0.5", "cache_pools=[4, 2, 1, 1]"}, false);
  const std::vector<AddedProducts> added = added_products();
  const auto products = [&] {
    for (const AddedProducts& layer : added) benchmarks::step(layer.forward(), layer.operands());
  };
  const auto times = in_turns({[&] { plain.backbone_step(); }, [&] { cached.backbone_step(); }, products}, turns);
  std::vector<double> ratios;
  for (size_t i = 0; i < times[0].size(); ++i) ratios.push_back((times[1][i] - times[0][i]) / times[2][i]);
  const auto ratio = analysis::quartiles(ratios);
  print_row({"model", "threads", "plain_ms", "cached_ms", "products_ms", "ratio", "lower", "upper"});
  print_row({"backbone of mask_rcnn_pvt_tiny_fpn", std::to_string(kThreads), median(times[0]), median(times[1]),
             median(times[2])},
            &ratio);
}

int run(const std::vector<std::string>& words) {
  at::set_num_threads(kThreads);
  if (words.size() == 3 && words[0] == "--serve") return serve(words[1], words[2]);
  cache_row(!words.empty() && words[0] == "--quick" ? 3 : 15);
  return 0;
}

}  // namespace
}  // namespace cachet::benchmarks

int main(int count, char** words) { return cachet::benchmarks::run({words + 1, words + count}); }
