#include "cachet/models/registry.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>

#include "cachet/config/document.h"
#include "cachet/nn/base/initialization.h"

namespace cachet {
namespace {

// Counts of timm 1.0.31; of the authors' own code for PVT (arXiv 2312.12742's baselines) and T2T-ViT, whose fixed
// positions and random maps do not count.
const std::map<std::string, int64_t> kParameters{
    {"vit_tiny_patch16_224", 5717416},
    {"vit_small_patch16_224", 22050664},
    {"vit_base_patch16_224", 86567656},
    {"deit_tiny_patch16_224", 5717416},
    {"deit_small_patch16_224", 22050664},
    {"deit_base_patch16_224", 86567656},
    {"deit_tiny_distilled_patch16_224", 5910800},
    {"deit_small_distilled_patch16_224", 22436432},
    {"deit_base_distilled_patch16_224", 87338192},
    {"pvt_tiny", 13229288},
    {"pvt_small", 24485864},
    {"pvt_medium", 44208104},
    {"pvt_large", 61369320},
    {"pvt_v2_b0", 3666760},
    {"pvt_v2_b1", 14009000},
    {"pvt_v2_b2", 25362856},
    {"pvt_v2_b2_li", 22553512},
    {"pvt_v2_b3", 45238696},
    {"pvt_v2_b4", 62556072},
    {"pvt_v2_b5", 81956008},
    {"swin_tiny_patch4_window7_224", 28288354},
    {"swin_small_patch4_window7_224", 49606258},
    {"swin_base_patch4_window7_224", 87768224},
    {"t2t_vit_14", 21465806},
    {"t2t_vit_19", 39085070},
    {"t2t_vit_24", 64000974},
    {"t2t_vit_t_14", 21465422},
    {"t2t_vit_t_19", 39084686},
    {"t2t_vit_t_24", 64000590},
};

TEST(ModelRegistry, BuildsEveryNameWithThePublishedParameterCount) {
  EXPECT_EQ(models::model_names(models::Capability::image_classifier).size(), kParameters.size());
  for (const std::string& name : models::model_names(models::Capability::image_classifier)) {
    config::Document document;
    const auto plan = models::read_image_classifier(name, document.root());
    document.finish();
    const nn::WithoutInitialization no_values;
    const auto model = plan.build();
    int64_t count = 0;
    for (const at::Tensor& parameter : model->parameters()) count += parameter.numel();
    ASSERT_TRUE(kParameters.count(name)) << name;
    EXPECT_EQ(count, kParameters.at(name)) << name;
    EXPECT_EQ(model->classes(), 1000);
  }
}

TEST(ModelRegistry, AModelIsAskedForByWhatItCanDo) {
  using models::Capability;
  EXPECT_EQ(models::abilities_of("pvt_tiny"), (std::vector{Capability::image_classifier, Capability::feature_pyramid}));
  EXPECT_EQ(models::abilities_of("vit_tiny_patch16_224"), (std::vector{Capability::image_classifier}));
  EXPECT_EQ(models::abilities_of("lra_text"), (std::vector{Capability::sequence_classifier}));
  EXPECT_TRUE(models::abilities_of("pvt_smal").empty());
  size_t first = 0;
  for (const std::string& name : models::model_names())
    for (const Capability ability : models::abilities_of(name))
      if (ability == models::abilities_of(name).front()) ++first;
  EXPECT_EQ(first, models::model_names().size()) << "every model can do something";
}

// A pyramid is read from a recipe without the classifier around it: it has no head, no class token and no classes.
TEST(ModelRegistry, EveryPyramidIsABackboneOfItsOwn) {
  const std::vector<std::string> names = models::model_names(models::Capability::feature_pyramid);
  EXPECT_EQ(names.size(), 14u);
  for (const std::string& name : names) {
    config::Document document;
    document.set("model.name=" + name);
    document.set("model.image_size=[64, 96]");
    document.set("model.norm.kind=un");
    const auto plan = models::read_feature_pyramid(document.root().table("model"));
    document.finish();
    const nn::WithoutInitialization no_values;
    const auto model = plan.build();
    EXPECT_EQ(model->image_shape().width, 96) << name;
    EXPECT_EQ(model->feature_strides(), (std::vector<int64_t>{4, 8, 16, 32})) << name;
    for (const auto& item : model->named_parameters()) {
      EXPECT_FALSE(item.key().starts_with("head.")) << name;
      EXPECT_EQ(item.key().find("cls_token"), std::string::npos) << name;
    }
  }
  auto document = config::Document::from_text("[model]\nname = \"pvt_tiny\"\nclasses = 10\n", "r.toml");
  models::read_feature_pyramid(document.root().table("model"));
  EXPECT_THROW(document.finish(), config::Error) << "a backbone scores no classes";
}

TEST(Registry, SizesAreThoseOfTheName) {
  const auto sizes = models::sizes_of("vit_tiny_patch16_224");
  const std::map<std::string, std::string> of(sizes.begin(), sizes.end());
  EXPECT_EQ(of.at("patch_size"), "16");
  EXPECT_EQ(of.at("depth"), "12");
  EXPECT_NE(of.at("image_size").find("224"), std::string::npos);
  EXPECT_TRUE(models::sizes_of("no_such_model").empty());
  for (const std::string& name : models::model_names()) EXPECT_FALSE(models::sizes_of(name).empty()) << name;
}

}  // namespace
}  // namespace cachet
