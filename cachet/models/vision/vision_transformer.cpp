#include "cachet/models/vision/vision_transformer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <torch/nn/modules/container/modulelist.h>

#include "cachet/models/vision/position_table.h"
#include "cachet/nn/base/initialization.h"
#include "cachet/ops/tokens/dropout.h"

namespace cachet::models {
namespace {

constexpr double kNormEps = 1e-6;  // of timm's vision transformers
constexpr double kClassTokenSpread = 1e-6;

}  // namespace

VisionTransformer::VisionTransformer(const VisionTransformerOptions& options) : options_(options) {
  const auto& o = options_;
  TORCH_CHECK(o.image.height % o.patch_size == 0 && o.image.width % o.patch_size == 0,
              "vision_transformer: the height and width of the image must be multiples of the patch size, ",
              o.patch_size, ", got ", o.image.height, " x ", o.image.width);
  if (o.class_token) cls_token_ = register_parameter("cls_token", at::empty({1, 1, o.embed_dim}));
  if (o.distilled) dist_token_ = register_parameter("dist_token", at::empty({1, 1, o.embed_dim}));
  pos_embed_ = register_parameter("pos_embed", at::empty({1, o.tokens(), o.embed_dim}));
  patch_embed_ = register_module("patch_embed", std::make_shared<PatchEmbedding>(PatchEmbeddingOptions{
                                                    o.image.channels, o.embed_dim, o.patch_size}));

  nn::TransformerBlockOptions block;
  block.dim = o.embed_dim;
  block.num_heads = o.num_heads;
  block.mlp_ratio = o.mlp_ratio;
  block.dropout = o.dropout;
  block.stochastic_depth = o.stochastic_depth;
  block.norm_eps = kNormEps;
  block.tokens = o.tokens();
  block.layout = {o.grid(), o.class_tokens(), {}};
  blocks_ = nn::make_transformer_blocks(o.depth, block, o.plug_ins);
  torch::nn::ModuleList blocks = register_module("blocks", torch::nn::ModuleList());
  for (const auto& each : blocks_) blocks->push_back(each);
  norm_ = register_module(o.pooling == Pooling::token ? "norm" : "fc_norm",
                          nn::make_norm(o.plug_ins.norm, o.embed_dim, kNormEps));
  head_ = register_module("head", std::make_shared<nn::Linear>(o.embed_dim, o.classes));
  if (o.distilled) head_dist_ = register_module("head_dist", std::make_shared<nn::Linear>(o.embed_dim, o.classes));

  at::NoGradGuard no_grad;
  nn::truncated_normal_(pos_embed_, o.position_std);
  for (torch::Tensor* token : {&cls_token_, &dist_token_})
    if (token->defined()) token->normal_(0.0, kClassTokenSpread);
}

torch::Tensor VisionTransformer::embed(const torch::Tensor& images, const nn::Grid& grid) {
  const int64_t batch = images.size(0);
  std::vector<torch::Tensor> parts;
  for (const torch::Tensor& token : {cls_token_, dist_token_})
    if (token.defined()) parts.push_back(token.expand({batch, -1, -1}));
  parts.push_back(patch_embed_->forward(images).tokens);
  for (torch::Tensor& part : parts) part = part.to(parts.back().scalar_type());
  const torch::Tensor table =
      resize_position_table(pos_embed_, options_.class_tokens(), options_.grid(), grid, Resampling::bicubic);
  return ops::dropout(at::cat(parts, 1) + table, options_.dropout, is_training());
}

torch::Tensor VisionTransformer::tokens(const torch::Tensor& images) {
  const int64_t p = options_.patch_size;
  TORCH_CHECK(images.dim() == 4 && images.size(1) == options_.image.channels && images.size(2) >= p &&
                  images.size(3) >= p && images.size(2) % p == 0 && images.size(3) % p == 0,
              "vision_transformer: images must be (B, ", options_.image.channels, ", H, W) with H and W multiples of ",
              p, ", got ", images.sizes());
  const nn::Grid grid{images.size(2) / p, images.size(3) / p};
  const auto layout = nn::AttentionArgs::self({grid, options_.class_tokens(), {}});
  torch::Tensor x = embed(images, grid);
  for (const auto& block : blocks_) x = block->forward(x, layout);
  return options_.pooling == Pooling::token ? norm_->forward(x) : x;
}

torch::Tensor VisionTransformer::forward(const torch::Tensor& images) {
  const torch::Tensor x = tokens(images);
  if (options_.pooling == Pooling::mean)
    return head_->forward(norm_->forward(x.slice(1, options_.class_tokens()).mean(1)));
  const torch::Tensor logits = head_->forward(x.select(1, 0));
  return head_dist_ ? (logits + head_dist_->forward(x.select(1, 1))) / 2 : logits;
}

std::vector<nn::NormFold> VisionTransformer::norm_folds() {
  const char* name = options_.pooling == Pooling::token ? "norm" : "fc_norm";
  return {nn::fold_into_reader(*this, name, norm_, [&](const nn::Affine& before) {
    head_->fold_affine_before(before);
    if (head_dist_) head_dist_->fold_affine_before(before);
  })};
}

}  // namespace cachet::models
