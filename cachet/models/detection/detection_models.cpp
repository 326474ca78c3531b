#include "cachet/models/detection/faster_rcnn.h"
#include "cachet/models/detection/retinanet.h"
#include "cachet/models/registered_model.h"

namespace cachet::models {
namespace {

constexpr int64_t kCocoClasses = 80;

/// What is read of a detector next to its backbone, and how it is built on it.
template <class Options>
struct DetectorForm {
  const char* prefix;  // of its names
  Options (*defaults)(const std::vector<int64_t>& strides, int64_t classes);
  std::shared_ptr<ObjectDetector> (*build)(const std::shared_ptr<FeaturePyramid>& backbone, const Options& options);
  bool masks = false;
};

template <class Detector, class Options>
std::shared_ptr<ObjectDetector> build_detector(const std::shared_ptr<FeaturePyramid>& backbone,
                                               const Options& options) {
  return std::make_shared<Detector>(backbone, options);
}

template <class Options>
RegisteredModel detector_on(const RegisteredModel& backbone, const DetectorForm<Options>& form) {
  const std::string name = form.prefix + backbone.name + "_fpn";
  return {.name = name,
          .object_detector = [=, read_backbone = backbone.feature_pyramid](const config::View& table,
                                                                           const ImageDefaults& defaults) {
            const int64_t classes = read_classes(table, defaults.classes.value_or(kCocoClasses));
            const FeaturePyramidPlan pyramid = read_backbone(table, {.image = defaults.image});
            const Options options = Options::read(table, form.defaults(pyramid.strides, classes), pyramid.strides);
            return ObjectDetectorPlan{name, pyramid.image, classes, form.masks,
                                      [=] { return form.build(pyramid.build(), options); }};
          }};
}

}  // namespace

std::vector<RegisteredModel> detection_models() {
  constexpr DetectorForm<RegionDetectorOptions> kFasterRcnn{"faster_rcnn_", RegionDetectorOptions::faster_rcnn,
                                                            build_detector<FasterRcnn, RegionDetectorOptions>};
  constexpr DetectorForm<RegionDetectorOptions> kMaskRcnn{"mask_rcnn_", RegionDetectorOptions::mask_rcnn,
                                                          build_detector<MaskRcnn, RegionDetectorOptions>, true};
  constexpr DetectorForm<RetinaNetOptions> kRetinaNet{"retinanet_", RetinaNetOptions::published,
                                                      build_detector<RetinaNet, RetinaNetOptions>};
  std::vector<RegisteredModel> all;
  for (const auto backbones : {pyramid_vision_transformer_models, swin_detection_backbones})
    for (const RegisteredModel& backbone : backbones()) {
      all.push_back(detector_on(backbone, kFasterRcnn));
      all.push_back(detector_on(backbone, kMaskRcnn));
      all.push_back(detector_on(backbone, kRetinaNet));
    }
  return all;
}

}  // namespace cachet::models
