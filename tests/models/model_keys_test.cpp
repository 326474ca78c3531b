#include "cachet/models/model_keys.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cachet/models/language/long_range_transformer.h"
#include "cachet/models/registry.h"

namespace cachet {
namespace {

constexpr const char* kNote =
    "the model averages its tokens after this norm, and that average is the norm's bias for every input. All inputs "
    "get "
    "the same prediction; choose another norm";

template <class Read>
std::vector<std::string> notes_of(const std::string& model, Read read) {
  auto document = config::Document::from_text("[model]\n" + model, "r.toml");
  read(document.root().table("model"));
  document.finish();
  return document.notes();
}

TEST(NormBeforeMean, IsNotedWhereAllInputsGetOneAnswer) {
  const auto image = [](const std::string& model) {
    return notes_of(model, [](const config::View& table) { models::read_image_classifier(table); });
  };
  const auto sequence = [](const std::string& model) {
    return notes_of(model, [](const config::View& table) { models::read_sequence_classifier(table); });
  };
  const std::vector<std::string> noted{std::string("r.toml:3: model.norm.kind: ") + kNote};
  const std::string instance = "norm.kind = \"instance\"\n";
  EXPECT_EQ(sequence("name = \"lra_small\"\n" + instance), noted);
  EXPECT_EQ(image("name = \"swin_tiny_patch4_window7_224\"\n" + instance), noted);
  EXPECT_EQ(image("name = \"pvt_v2_b0\"\n" + instance), noted);
  EXPECT_EQ(
      image(
          "name = \"pvt_v2_b0\"\nnorm = {kind = \"group\"}\nembed_dims = [32, 32, 32, 32]\nnum_heads = [1, 1, 1, 1]\n"),
      noted);
  for (const std::string name : {"pvt_tiny", "vit_tiny_patch16_224"})  // class tokens
    EXPECT_TRUE(image("name = \"" + name + "\"\n" + instance).empty()) << name;
  EXPECT_TRUE(sequence("name = \"lra_small\"\npooling = \"class_token\"\n" + instance).empty());
  EXPECT_TRUE(sequence("name = \"lra_small\"\nnorm = {kind = \"group\", groups = 2}\n").empty());
}

TEST(NormBeforeMean, TheNotedModelAnswersAlike) {
  models::LongRangeOptions o;
  o.sequence = {11, 9, false};
  o.classes = 3;
  o.embed_dim = 8;
  o.depth = 2;
  o.num_heads = 2;
  o.mlp_dim = 12;
  o.pooling = models::SequencePooling::mean;
  const auto spread = [&o](const nn::NormOptions& norm) {
    o.plug_ins.norm = norm;
    models::LongRangeTransformer model(o);
    model.to(at::kDouble);
    model.eval();
    const at::Tensor answers = model.forward({at::randint(1, 11, {6, 9}, at::kLong), {}}, {});
    return (answers - answers.mean(0)).abs().max().item<double>();
  };
  at::manual_seed(3);
  EXPECT_LT(spread(nn::InstanceNormOptions{}), 1e-12);
  EXPECT_LT(spread(nn::GroupNormOptions{.groups = 8}), 1e-12);
  EXPECT_GT(spread(nn::GroupNormOptions{.groups = 4}), 1e-3);
}

}  // namespace
}  // namespace cachet
