#include "cachet/analysis/block_outputs.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "cachet/analysis/similarity.h"
#include "cachet/models/vision/vision_transformer.h"
#include "cachet/nn/transformer_block.h"

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

// A token that is padding counts as zeros, which add nothing to a product.
TEST(BlockOutputs, PaddingDoesNotCount) {
  nn::TransformerBlockOptions options;
  options.dim = 8;
  options.num_heads = 2;
  class OneBlock : public torch::nn::Module {
   public:
    explicit OneBlock(const nn::TransformerBlockOptions& options)
        : block(register_module("block", std::make_shared<nn::TransformerBlock>(options, nn::PlugIns{}))) {}
    std::shared_ptr<nn::TransformerBlock> block;
  };
  const auto made = std::make_shared<OneBlock>(options);
  OneBlock& model = *made;
  model.eval();
  const at::NoGradGuard no_grad;
  const at::Tensor tokens = at::randn({5, 3, 8}), rubbish = at::randn({5, 4, 8});
  const at::Tensor padding = at::arange(7).ge(3).expand({5, 7});
  BlockOutputs outputs(5);
  {
    const nn::Observation observation(model, outputs.listener());
    model.block->forward(tokens, nn::AttentionLayout::self({}));
    model.block->forward(at::cat({tokens, rubbish}, 1), nn::AttentionLayout::self({std::nullopt, 0, padding}));
  }
  ASSERT_EQ(outputs.batches(), 2);
  const auto gram = [&](int64_t batch) {
    const at::Tensor root = outputs.batch(batch).front();
    return at::matmul(root, root.t());
  };
  EXPECT_LT((gram(0) - gram(1)).abs().max().item<double>(), 1e-4);
}

}  // namespace
}  // namespace cachet::analysis
