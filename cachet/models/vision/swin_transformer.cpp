#include "cachet/models/vision/swin_transformer.h"

#include <ATen/ops/constant_pad_nd.h>
#include <torch/nn/modules/container/modulelist.h>

#include "cachet/ops/tokens/dropout.h"

namespace cachet::models {
namespace {

constexpr double kSwinFinalNormEps = 1e-5;

}  // namespace

SwinTransformer::SwinTransformer(const SwinTransformerOptions& options, StageNorms norms) : options_(options) {
  const auto& o = options_;
  TORCH_CHECK(!o.stages.empty(), "swin_transformer: needs at least one stage");
  patch_embed_ = register_module("patch_embed", std::make_shared<PatchEmbedding>(PatchEmbeddingOptions{
                                                    o.image.channels, o.embed_dim, o.patch_size, 0, o.plug_ins.norm}));
  torch::nn::ModuleList layers = register_module("layers", torch::nn::ModuleList());
  const auto patches = [&](int64_t side) { return (side + o.patch_size - 1) / o.patch_size; };
  SwinStagePlace place;
  place.grid = {patches(o.image.height), patches(o.image.width)};
  for (const auto& stage : o.stages) place.blocks_of_model += stage.depth;
  for (; place.stage < o.stages.size(); ++place.stage) {
    if (place.stage > 0) place.grid = {(place.grid.height + 1) / 2, (place.grid.width + 1) / 2};
    layers_.push_back(std::make_shared<SwinStage>(o, place));
    layers->push_back(layers_.back());
    place.blocks_before += o.stages[place.stage].depth;
    if (norms == StageNorms::present)
      feature_norms_.push_back(
          register_module("norm" + std::to_string(place.stage),
                          nn::make_norm(o.plug_ins.norm, o.stage_dim(place.stage), kSwinFinalNormEps)));
  }
}

std::vector<GridTokens> SwinTransformer::run(const torch::Tensor& images) {
  TORCH_CHECK(
      images.dim() == 4 && images.size(1) == options_.image.channels && images.size(2) >= 1 && images.size(3) >= 1,
      "swin_transformer: images must be (B, ", options_.image.channels, ", H, W), got ", images.sizes());
  const int64_t p = options_.patch_size;
  const auto missing = [&](int64_t side) { return (p - side % p) % p; };
  const int64_t right = missing(images.size(3)), below = missing(images.size(2));
  GridTokens x =
      patch_embed_->forward(right > 0 || below > 0 ? at::constant_pad_nd(images, {0, right, 0, below}) : images);
  x.tokens = ops::dropout(x.tokens, options_.dropout, is_training());
  std::vector<GridTokens> tokens;
  for (const auto& layer : layers_) tokens.push_back(x = layer->forward(x));
  return tokens;
}

std::vector<torch::Tensor> SwinTransformer::features(const torch::Tensor& images) {
  const auto stages = run(images);
  std::vector<torch::Tensor> maps;
  for (size_t i = 0; i < stages.size(); ++i)
    maps.push_back(nn::map_of(feature_norms_.empty() ? stages[i].tokens : feature_norms_[i]->forward(stages[i].tokens),
                              stages[i].grid));
  return maps;
}

std::vector<int64_t> SwinTransformer::feature_channels() const {
  std::vector<int64_t> channels;
  for (size_t i = 0; i < options_.stages.size(); ++i) channels.push_back(options_.stage_dim(i));
  return channels;
}

std::vector<int64_t> SwinTransformer::feature_strides() const {
  return halving_strides(options_.patch_size, options_.stages.size());
}

std::vector<nn::NormFold> SwinTransformer::norm_folds() {
  std::vector<nn::NormFold> folded;
  for (size_t i = 0; i < feature_norms_.size(); ++i)
    folded.push_back(nn::leave_norm(*this, "norm" + std::to_string(i), feature_norms_[i],
                                    "the layer that reads the output of this norm is outside the backbone"));
  return folded;
}

SwinTransformerClassifier::SwinTransformerClassifier(const SwinTransformerOptions& o, int64_t classes)
    : Cloneable(o, StageNorms::absent), classes_(classes) {
  const int64_t dim = o.stage_dim(o.stages.size() - 1);
  norm_ = register_module("norm", nn::make_norm(o.plug_ins.norm, dim, kSwinFinalNormEps));
  const auto head = register_module("head", std::make_shared<nn::ModuleGroup>("ClassifierHead"));
  fc_ = head->register_module("fc", std::make_shared<nn::Linear>(dim, classes));
}

torch::Tensor SwinTransformerClassifier::forward(const torch::Tensor& images) {
  return fc_->forward(norm_->forward(run(images).back().tokens).mean(1));
}

std::vector<nn::NormFold> SwinTransformerClassifier::norm_folds() {
  return {
      nn::fold_into_reader(*this, "norm", norm_, [&](const nn::Affine& before) { fc_->fold_affine_before(before); })};
}

}  // namespace cachet::models
