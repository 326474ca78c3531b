#include "cachet/analysis/block_outputs.h"

#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "cachet/analysis/similarity.h"
#include "cachet/models/vision/vision_transformer.h"

namespace cachet::analysis {
namespace {

TEST(BlockOutputs, TheRootHasTheSameProductsAndSoTheSameAlignment) {
  const at::Tensor x = at::randn({6, 5, 4}, at::kDouble), y = at::randn({6, 3}, at::kDouble);
  const at::Tensor root = root_of_gram(x), flat = x.flatten(1);
  ASSERT_EQ(root.sizes(), (std::vector<int64_t>{6, 6}));
  EXPECT_LT((at::matmul(root, root.t()) - at::matmul(flat, flat.t())).abs().max().item<double>(), 1e-12);
  EXPECT_NEAR(linear_cka(root, root_of_gram(y)), linear_cka(x, y), 1e-12);
}

TEST(BlockOutputs, BatchesOfOneSizeBlockByBlock) {
  models::VisionTransformerOptions options;
  options.image = {1, 8, 8};
  options.patch_size = 4;
  options.embed_dim = 8;
  options.depth = 2;
  options.num_heads = 2;
  options.classes = 3;
  const auto made = std::make_shared<models::VisionTransformer>(options);
  models::VisionTransformer& model = *made;
  BlockOutputs outputs(5);
  {
    const nn::Observation observation(model, outputs.listener());
    model.forward(at::randn({5, 1, 8, 8}));
    model.forward(at::randn({5, 1, 8, 8}));
    model.forward(at::randn({2, 1, 8, 8}));  // a shorter last one
  }
  model.forward(at::randn({5, 1, 8, 8}));  // nobody listens
  EXPECT_EQ(outputs.layers(), (std::vector<std::string>{"blocks.0", "blocks.1"}));
  ASSERT_EQ(outputs.batches(), 2);
  EXPECT_EQ(outputs.batch(1).size(), 2u);
}

}  // namespace
}  // namespace cachet::analysis
