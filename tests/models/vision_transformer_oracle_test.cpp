#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/io/state_dict.h"
#include "cachet/models/vision/vision_transformer.h"
#include "tests/support/oracle.h"

namespace cachet {
namespace {

using testing::Comparison;
using testing::Oracle;

std::shared_ptr<models::VisionTransformer> make_model(const Oracle& oracle) {
  const auto& arguments = oracle.metadata.at("arguments");
  models::VisionTransformerOptions o;
  o.image = {arguments.value("in_chans", int64_t{3}), arguments.at("img_size"), arguments.at("img_size")};
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
  auto model = std::make_shared<models::VisionTransformer>(o);
  model->to(at::kDouble);
  io::load_state_dict(*model, oracle.below("param."));
  return model;
}

class VisionTransformerOracle : public ::testing::TestWithParam<std::string> {};

TEST_P(VisionTransformerOracle, NamesOutputsAndGradientsAreReproduced) {
  const Oracle oracle = testing::load_oracle(GetParam());
  Comparison compare(oracle.name);
  const auto model = make_model(oracle);

  std::vector<std::string> names;
  for (const auto& item : model->named_parameters()) names.push_back(item.key());
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()),
            oracle.metadata.at("parameters").get<std::set<std::string>>());

  for (int64_t i = 0; oracle.has_step(i, "x"); ++i) {
    const std::string step = "step" + std::to_string(i) + ".";
    model->zero_grad();
    const at::Tensor x = oracle.step(i, "x").requires_grad_();
    const at::Tensor y = model->forward(x);
    (y * oracle.step(i, "dy")).sum().backward();
    compare.close(y, oracle.step(i, "y"), step + "y");
    compare.close(x.grad(), oracle.step(i, "dx"), step + "dx");
    const auto parameters = model->named_parameters();
    for (const auto& [name, expected] : oracle.below(step + "grad."))
      compare.close(parameters[name].grad(), expected, step + name);
    std::vector<at::Tensor> norms;
    for (const auto& name : oracle.metadata.at("parameters").get<std::vector<std::string>>())
      norms.push_back(parameters[name].grad().norm());
    compare.close(at::stack(norms), oracle.step(i, "gradnorm"), step + "gradnorm");
  }

  model->eval();
  for (int64_t i = 0; oracle.has("eval" + std::to_string(i) + ".x"); ++i) {
    const std::string eval = "eval" + std::to_string(i) + ".";
    compare.close(model->forward(oracle[eval + "x"]), oracle[eval + "y"], eval + "y");
    compare.close(model->tokens(oracle[eval + "x"]), oracle[eval + "feature.norm"], eval + "feature.norm");
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, VisionTransformerOracle, ::testing::ValuesIn(testing::oracles({"model_vit"})),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cachet
