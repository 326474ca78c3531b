#include <gtest/gtest.h>

#include "cachet/models/vision/vision_transformer.h"
#include "tests/support/model_oracle.h"

namespace cachet {
namespace {

using test::Oracle;

std::shared_ptr<models::VisionTransformer> make_model(const Oracle& oracle) {
  const auto& arguments = oracle.metadata.at("arguments");
  models::VisionTransformerOptions o;
  o.image = {oracle.step(0, "x").size(1), arguments.at("img_size"), arguments.at("img_size")};
  o.patch_size = arguments.at("patch_size");
  o.classes = oracle.integer("classes");
  o.embed_dim = arguments.at("embed_dim");
  o.depth = arguments.at("depth");
  o.num_heads = arguments.at("num_heads");
  o.mlp_ratio = arguments.at("mlp_ratio");
  o.class_token = arguments.at("class_token");
  o.pooling = arguments.at("global_pool") == "token" ? models::Pooling::token : models::Pooling::mean;
  o.plug_ins.attention.qkv_bias = arguments.at("qkv_bias");
  o.plug_ins.norm = nn::LayerNormOptions{oracle.real("norm_eps")};
  return std::make_shared<models::VisionTransformer>(o);
}

class VisionTransformerOracle : public ::testing::TestWithParam<std::string> {};

TEST_P(VisionTransformerOracle, NamesOutputsAndGradientsAreReproduced) {
  const Oracle oracle = test::load_oracle(GetParam());
  const auto model = make_model(oracle);
  test::ModelUnderTest test;
  test.model = model;
  test.outputs = [&](const at::Tensor& images) { return std::vector<at::Tensor>{model->forward(images)}; };
  test.features = [&](const at::Tensor& images) {
    return std::map<std::string, at::Tensor>{{"norm", model->tokens(images)}};
  };
  test::expect_model_reproduced(test, oracle);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, VisionTransformerOracle, ::testing::ValuesIn(test::oracles({"model_vit"})),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cachet
