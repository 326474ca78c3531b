#include <gtest/gtest.h>

#include "cachet/io/tensors/names/published_names.h"
#include "cachet/models/vision/pyramid_vision_transformer.h"
#include "tests/support/model_oracle.h"

namespace cachet {
namespace {

using models::PyramidForm;

using test::ModelUnderTest;
using test::Oracle;

// The published GRC's fixtures write their arguments into the metadata itself, the others into one object.
nlohmann::json argument(const Oracle& oracle, const char* of_library, const char* of_grc) {
  return oracle.metadata.contains("arguments") ? oracle.metadata["arguments"].at(of_library)
                                               : oracle.metadata.at(of_grc);
}

models::PyramidVisionTransformerOptions pyramid_options_of(const Oracle& oracle, PyramidForm form) {
  models::PyramidVisionTransformerOptions o;
  o.form = form;
  // PVT v2 has no size of its own: that of the first step's images.
  const at::Tensor images = oracle.step(0, "x");
  const int64_t side = oracle.metadata.contains("img")
                           ? oracle.integer("img")
                           : oracle.metadata["arguments"].value("img_size", images.size(-1));
  o.image = {images.size(1), side, side};
  if (oracle.metadata.contains("arguments"))
    o.plug_ins.attention.qkv_bias = oracle.metadata["arguments"].value("qkv_bias", true);
  const auto dims = argument(oracle, "embed_dims", "dims"), heads = argument(oracle, "num_heads", "heads");
  const auto depths = argument(oracle, "depths", "depths"), reductions = argument(oracle, "sr_ratios", "sr");
  const auto mlp = argument(oracle, "mlp_ratios", "mlp");
  for (size_t i = 0; i < dims.size(); ++i) o.stages.push_back({dims[i], depths[i], heads[i], mlp[i], reductions[i]});
  if (oracle.flag("grc"))
    o.plug_ins.cache = nn::GatedRecurrentCacheOptions::of(nn::GatedRecurrentCacheVariant::official);
  return o;
}

/// 0 of a backbone, which has no head.
int64_t pyramid_classes_of(const Oracle& oracle) {
  return oracle.has("param.head.bias") ? oracle["param.head.bias"].size(0) : 0;
}

int64_t steps_of(const Oracle& oracle) {
  int64_t steps = 0;
  while (oracle.has_step(steps, "x")) ++steps;
  return steps;
}

/// A classifier whose stages can be looked at.
struct OpenClassifier : models::PyramidVisionTransformerClassifier {
  using PyramidVisionTransformer::run;
  using PyramidVisionTransformerClassifier::PyramidVisionTransformerClassifier;
};

class PyramidOracle : public ::testing::TestWithParam<std::string> {};

TEST_P(PyramidOracle, NamesOutputsFeaturesAndGradientsAreReproduced) {
  Oracle oracle = test::load_oracle(GetParam());
  // The published PVT's fixtures do not record it: as those of its layer, they end with a step of evaluation.
  if (oracle.name.starts_with("pvt_official")) oracle.metadata["train_steps"] = steps_of(oracle) - 1;
  const bool v2 = oracle.name.starts_with("model_pvt_v2"), linear = v2 && oracle.metadata["arguments"]["linear"];
  const auto options =
      pyramid_options_of(oracle, linear ? PyramidForm::v2_linear : (v2 ? PyramidForm::v2 : PyramidForm::v1));
  std::shared_ptr<OpenClassifier> classifier;
  std::shared_ptr<models::PyramidVisionTransformer> model;
  if (pyramid_classes_of(oracle) > 0)
    model = classifier = std::make_shared<OpenClassifier>(options, pyramid_classes_of(oracle));
  else
    model = std::make_shared<models::PyramidVisionTransformer>(options);
  ModelUnderTest test;
  test.model = model;
  if (!v2) test.names = {io::published_pvt(), io::published_grc_spatial_reduction()};
  test.outputs = [&](const at::Tensor& images) {
    return classifier ? std::vector<at::Tensor>{classifier->forward(images)} : model->features(images);
  };
  test.features = [&](const at::Tensor& images) {
    std::map<std::string, at::Tensor> features;
    if (!classifier || !oracle.metadata.contains("features")) return features;
    const auto stages = classifier->run(images, models::ClassToken::present);
    for (size_t i = 0; i < stages.size(); ++i) {
      const auto number = static_cast<int64_t>(i);
      if (v2)
        features["stages." + std::to_string(i)] = nn::map_of(stages[i].tokens, stages[i].grid);
      else
        features["block" + std::to_string(number + 1) + "." + std::to_string(options.stages[i].depth - 1)] =
            stages[i].tokens;
    }
    return features;
  };
  test::expect_model_reproduced(test, oracle);
  for (const auto& [name, cache] : test::to_our_names(test, oracle.below("buffer."))) {
    test::Comparison compare(oracle.name + " caches");
    compare.close(model->named_buffers()[name], cache, name);
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, PyramidOracle, ::testing::ValuesIn(test::oracles({"model_pvt", "pvt_official"})),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cachet
