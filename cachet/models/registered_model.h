#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/models/detection/object_detector.h"
#include "cachet/models/language/language_model.h"
#include "cachet/models/language/sequence_classifier.h"
#include "cachet/models/language/translation_model.h"
#include "cachet/models/model_keys.h"
#include "cachet/models/vision/feature_pyramid.h"
#include "cachet/models/vision/image_classifier.h"

namespace cachet::models {

inline constexpr int64_t kImageNetClasses = 1000;

/// A named model of a family of models. For each capability of the model, such as `image_classifier`, a function parses
/// a `[model]` table and returns a plan of the model. The plan's default values come from the named model and from the
/// data. If the model lacks a capability, the function for this capability is empty.
struct RegisteredModel {
  std::string name;
  std::function<ImageClassifierPlan(const config::View& table, const ImageDefaults& defaults)> image_classifier{};
  std::function<FeaturePyramidPlan(const config::View& table, const ImageDefaults& defaults)> feature_pyramid{};
  std::function<SequenceClassifierPlan(const config::View& table, const SequenceDefaults& defaults)>
      sequence_classifier{};
  std::function<LanguageModelPlan(const config::View& table, const LanguageDefaults& defaults)> language_model{};
  std::function<TranslationModelPlan(const config::View& table, const TranslationDefaults& defaults)>
      translation_model{};
  std::function<ObjectDetectorPlan(const config::View& table, const ImageDefaults& defaults)> object_detector{};
};

/// A function that reads the options of a family of models from a table. `defaults` has the options of one member of
/// the family.
template <class Options>
using OptionsReader = Options (*)(const config::View& table, Options defaults);

/// Returns a member of a family of classifiers. The type of the family's options must have the fields `image` and
/// `classes`.
template <class Classifier, class Options>
RegisteredModel classifier_member(const std::string& name, const Options& options, OptionsReader<Options> read) {
  return {
      .name = name, .image_classifier = [=](const config::View& table, const ImageDefaults& defaults) {
        Options own = options;
        if (defaults.image) own.image = *defaults.image;
        if (defaults.classes) own.classes = *defaults.classes;
        own = read(table, own);
        return ImageClassifierPlan{name, own.image, own.classes, [own] { return std::make_shared<Classifier>(own); }};
      }};
}

/// Returns a member of a family of backbones, with a classifier. `Options` must have a field `image`.
template <class Backbone, class Classifier, class Options>
RegisteredModel pyramid_member(const std::string& name, const Options& options, OptionsReader<Options> read) {
  const auto own_options = [=](const config::View& table, const ImageDefaults& defaults) {
    Options own = options;
    if (defaults.image) own.image = *defaults.image;
    return read(table, own);
  };
  return {.name = name,
          .image_classifier =
              [=](const config::View& table, const ImageDefaults& defaults) {
                const int64_t classes = read_classes(table, defaults.classes.value_or(kImageNetClasses));
                const Options own = own_options(table, defaults);
                if (own.averages_tokens()) note_norm_before_mean(table, own.plug_ins.norm, own.last_dim());
                return ImageClassifierPlan{name, own.image, classes,
                                           [own, classes] { return std::make_shared<Classifier>(own, classes); }};
              },
          .feature_pyramid =
              [=](const config::View& table, const ImageDefaults& defaults) {
                const Options own = own_options(table, defaults);
                return FeaturePyramidPlan{name, own.image, halving_strides(own.patch_size, own.stages.size()),
                                          [own] { return std::make_shared<Backbone>(own); }};
              }};
}

// The families of models, each in its own file. Names and default values are those of the published models.
std::vector<RegisteredModel> vision_transformer_models();          // vit_*, deit_*: timm's names
std::vector<RegisteredModel> pyramid_vision_transformer_models();  // pvt_*, pvt_v2_*
std::vector<RegisteredModel> swin_transformer_models();            // swin_*: timm's names
std::vector<RegisteredModel> t2t_vision_transformer_models();      // t2t_vit_*, t2t_vit_t_*
std::vector<RegisteredModel> long_range_models();                  // lra_*: the encoders of the Long Range Arena
std::vector<RegisteredModel> transformer_xl_models();              // transformer_xl_*
std::vector<RegisteredModel> causal_transformer_models();          // causal_transformer_*
std::vector<RegisteredModel> translation_transformer_models();     // transformer_*: fairseq's names
std::vector<RegisteredModel> detection_models();                   // mask_rcnn_*, faster_rcnn_*, retinanet_*

/// Returns swin_t, swin_s and swin_b as the published detectors use them: the windows always keep their size and shift.
/// The three Swin models of this function are backbones in detection_models(), not models of the registry.
std::vector<RegisteredModel> swin_detection_backbones();

}  // namespace cachet::models
