#include <gtest/gtest.h>

#include "cachet/io/tensors/names/published_names.h"
#include "cachet/models/vision/t2t_vision_transformer.h"
#include "tests/support/model_oracle.h"

namespace cachet {
namespace {

using models::T2tVisionTransformer;
using test::Comparison;
using test::ModelUnderTest;
using test::Oracle;

nn::NormOptions t2t_norm_of(const Oracle& oracle) {
  if (oracle.metadata.at("norm") == "layer") return nn::LayerNormOptions{oracle.real("norm_eps")};
  const auto& arguments = oracle.metadata.at("norm_arguments");
  nn::UnifiedNormOptions o;
  o.variant = nn::UnifiedNormVariant::official;
  o.settings.forward_window = o.settings.backward_window = arguments.at("window_size");
  o.settings.warmup = arguments.at("warmup_iters");
  o.settings.filter_outliers = arguments.at("outlier_filtration");
  o.settings.eps = arguments.at("eps");
  o.settings.forward_momentum = o.settings.backward_momentum = arguments.at("momentum");
  return o;
}

models::T2tVisionTransformerOptions t2t_options_of(const Oracle& oracle) {
  const auto& arguments = oracle.metadata.at("arguments");
  models::T2tVisionTransformerOptions o;
  o.image = {oracle.step(0, "x").size(1), arguments.at("img_size"), arguments.at("img_size")};
  o.classes = oracle.integer("classes");
  o.token_attention = arguments.at("tokens_type") == "performer" ? models::TokenAttention::performer
                                                                 : models::TokenAttention::transformer;
  o.token_dim = arguments.at("token_dim");
  o.token_dropout = 0;
  o.embed_dim = arguments.at("embed_dim");
  o.depth = arguments.at("depth");
  o.num_heads = arguments.at("num_heads");
  o.mlp_ratio = arguments.at("mlp_ratio");
  o.plug_ins.attention.qkv_bias = arguments.at("qkv_bias");
  o.plug_ins.norm = t2t_norm_of(oracle);
  return o;
}

class T2tOracle : public ::testing::TestWithParam<std::string> {};

TEST_P(T2tOracle, NamesOutputsGradientsAndStateAreReproduced) {
  const Oracle oracle = test::load_oracle(GetParam());
  const auto options = t2t_options_of(oracle);
  const auto model = std::make_shared<T2tVisionTransformer>(options);
  ModelUnderTest test;
  test.model = model;
  test.names = {io::NameMap({io::Drop{"pos_embed"}}), io::published_t2t_performer()};
  const auto* un = std::get_if<nn::UnifiedNormOptions>(&options.plug_ins.norm);
  if (un) {
    for (auto& map : io::published_unified_norm(un->settings.forward_window, un->settings.backward_window))
      test.names.push_back(std::move(map));
    test.complete = io::add_unrecorded_counters;
  }
  test.outputs = [&](const at::Tensor& images) { return std::vector<at::Tensor>{model->forward(images)}; };
  test.features = [&](const at::Tensor& images) {
    auto& split = dynamic_cast<models::TokensToToken&>(*model->named_children()["tokens_to_token"]);
    return std::map<std::string, at::Tensor>{{"norm", model->tokens(images)},
                                             {"tokens_to_token", split.forward(images).tokens}};
  };
  test::expect_model_reproduced(test, oracle);

  if (!un) return;
  Comparison compare(oracle.name + " state");
  const auto buffers = model->named_buffers();
  for (const auto& [name, expected] : test::to_our_names(test, oracle.below("buffer."))) {
    if (name.ends_with("statistics"))
      compare.close(buffers[name], expected, name);
    else
      EXPECT_TRUE(at::equal(buffers[name].narrow(0, 0, 2), expected.narrow(0, 0, 2))) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, T2tOracle, ::testing::ValuesIn(test::oracles({"model_t2t"})),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cachet
