#include <gtest/gtest.h>

#include "cachet/io/tensors/names/published_names.h"
#include "cachet/models/vision/swin_transformer.h"
#include "tests/support/model_oracle.h"

namespace cachet {
namespace {

using test::ModelUnderTest;
using test::Oracle;

/// 0 of a backbone.
int64_t swin_classes_of(const Oracle& oracle) { return oracle.metadata.value("classes", int64_t{0}); }

models::SwinTransformerOptions swin_options_of(const Oracle& oracle) {
  const auto& arguments = oracle.metadata.at("arguments");
  models::SwinTransformerOptions o;
  // A backbone of detectors has no size of its own: that of the first step's images.
  const at::Tensor images = oracle.step(0, "x");
  const int64_t side = arguments.value("img_size", images.size(-1));
  o.image = {images.size(1), side, side};
  o.patch_size = arguments.at("patch_size");
  o.embed_dim = arguments.at("embed_dim");
  o.window_size = arguments.at("window_size");
  o.window_fit = swin_classes_of(oracle) > 0 ? models::WindowFit::shrink : models::WindowFit::pad;
  o.mlp_ratio = arguments.at("mlp_ratio");
  o.plug_ins.attention.qkv_bias = arguments.at("qkv_bias");
  o.plug_ins.norm = nn::LayerNormOptions{oracle.real("norm_eps")};
  for (size_t i = 0; i < arguments.at("depths").size(); ++i)
    o.stages.push_back({arguments["depths"][i], arguments["num_heads"][i]});
  return o;
}

class SwinOracle : public ::testing::TestWithParam<std::string> {};

TEST_P(SwinOracle, NamesOutputsFeaturesAndGradientsAreReproduced) {
  const Oracle oracle = test::load_oracle(GetParam());
  const auto options = swin_options_of(oracle);
  std::shared_ptr<models::SwinTransformerClassifier> classifier;
  std::shared_ptr<models::SwinTransformer> model;
  if (swin_classes_of(oracle) > 0)
    model = classifier = std::make_shared<models::SwinTransformerClassifier>(options, swin_classes_of(oracle));
  else
    model = std::make_shared<models::SwinTransformer>(options);
  ModelUnderTest test;
  test.model = model;
  if (!classifier) test.names = {io::published_swin()};
  test.outputs = [&](const at::Tensor& images) {
    return classifier ? std::vector<at::Tensor>{classifier->forward(images)} : model->features(images);
  };
  test.features = [&](const at::Tensor& images) {
    std::map<std::string, at::Tensor> features;
    if (!classifier) return features;
    const auto maps = model->features(images);
    for (size_t i = 0; i < maps.size(); ++i) features["layers." + std::to_string(i)] = maps[i].permute({0, 2, 3, 1});
    return features;
  };
  test::expect_model_reproduced(test, oracle);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, SwinOracle, ::testing::ValuesIn(test::oracles({"model_swin"})),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cachet
