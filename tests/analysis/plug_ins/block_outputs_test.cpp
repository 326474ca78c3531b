#include "cachet/analysis/plug_ins/block_outputs.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "cachet/analysis/plug_ins/similarity.h"
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
  EXPECT_EQ(outputs.blocks().layers(), (std::vector<std::string>{"blocks.0", "blocks.1"}));
  ASSERT_EQ(outputs.blocks().batches(), 2);
  EXPECT_EQ(outputs.blocks().batch(1).size(), 2u);
  EXPECT_EQ(outputs.parts().layers(),
            (std::vector<std::string>{"blocks.0.norm1", "blocks.0.attn", "blocks.0.norm2", "blocks.0.mlp",
                                      "blocks.1.norm1", "blocks.1.attn", "blocks.1.norm2", "blocks.1.mlp"}));
  ASSERT_EQ(outputs.parts().batches(), 2);
  EXPECT_EQ(outputs.parts().batch(1).size(), 8u);
}

// What the parts give, by the block's own arithmetic: a sum of the block's input and of what its two branches give.
TEST(BlockOutputs, PartsAreWhatTheBlockAdds) {
  for (const auto place : {nn::NormPlace::before, nn::NormPlace::after}) {
    nn::TransformerBlockOptions options;
    options.dim = 8;
    options.num_heads = 2;
    options.norm_place = place;
    const auto block = std::make_shared<nn::TransformerBlock>(options, nn::PlugIns{});
    block->eval();
    const at::NoGradGuard no_grad;
    std::map<nn::Signal, at::Tensor> told;
    const nn::Observation observation(
        *block, nn::Listener([&](const std::string& path, nn::Signal signal, const at::Tensor& value) {
          if (path.empty()) told[signal] = value;
        }));
    const at::Tensor x = at::randn({3, 5, 8}), y = block->forward(x, nn::AttentionArgs::self({}));
    const at::Tensor attention = told.at(nn::Signal::attention_output), ff = told.at(nn::Signal::feed_forward_output);
    if (place == nn::NormPlace::before) {
      EXPECT_TRUE(at::allclose(x + attention + ff, y, 1e-5, 1e-6));
    } else {
      EXPECT_TRUE(at::equal(told.at(nn::Signal::norm2_output), y));
      EXPECT_FALSE(at::allclose(told.at(nn::Signal::norm1_output), x));
    }
    EXPECT_EQ(told.count(nn::Signal::cross_norm_output), 0u);
  }
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
    model.block->forward(tokens, nn::AttentionArgs::self({}));
    model.block->forward(at::cat({tokens, rubbish}, 1), nn::AttentionArgs::self({std::nullopt, 0, padding}));
  }
  for (const Representations* kind : {&outputs.blocks(), &outputs.parts()}) {
    ASSERT_EQ(kind->batches(), 2);
    for (size_t layer = 0; layer < kind->layers().size(); ++layer) {
      const auto gram = [&](int64_t batch) {
        const at::Tensor root = kind->batch(batch)[layer];
        return at::matmul(root, root.t());
      };
      EXPECT_LT((gram(0) - gram(1)).abs().max().item<double>(), 1e-4) << kind->layers()[layer];
    }
  }
}

}  // namespace
}  // namespace cachet::analysis
