#include "cachet/models/vision/pyramid_vision_transformer.h"

#include <torch/nn/modules/container/modulelist.h>

namespace cachet::models {
namespace {

constexpr double kHeadNormEps = 1e-6;

// v2's first patches reach over their neighbours' pixels, 7 for a stride of 4; later ones 3 for a stride of 2.
int64_t patch_side(PyramidForm form, int64_t stride) { return form == PyramidForm::v1 ? stride : 2 * stride - 1; }

}  // namespace

PyramidVisionTransformer::PyramidVisionTransformer(const PyramidVisionTransformerOptions& options,
                                                   ClassToken class_token)
    : options_(options) {
  const auto& o = options_;
  TORCH_CHECK(!o.stages.empty(), "pyramid_vision_transformer: needs at least one stage");
  const auto patches = [&](int64_t channels, int64_t dim, int64_t stride) {
    return std::make_shared<PatchEmbedding>(
        PatchEmbeddingOptions{channels, dim, stride, patch_side(o.form, stride), o.plug_ins.norm});
  };
  patch_embed_ = register_module("patch_embed", patches(o.image.channels, o.stages.front().embed_dim, o.patch_size));
  torch::nn::ModuleList stages = register_module("stages", torch::nn::ModuleList());
  PyramidStagePlace place;
  for (const auto& stage : o.stages) place.blocks_of_model += stage.depth;
  place.grid = patch_embed_->grid_of({o.image.height, o.image.width});
  for (size_t i = 0; i < o.stages.size(); ++i) {
    if (i > 0) {
      place.downsample = patches(o.stages[i - 1].embed_dim, o.stages[i].embed_dim, 2);
      place.grid = place.downsample->grid_of(place.grid);
    }
    TORCH_CHECK(place.grid.height >= 1 && place.grid.width >= 1, "pyramid_vision_transformer: an image of ",
                o.image.height, " x ", o.image.width, " leaves no token in stage ", i + 1);
    const bool last = i + 1 == o.stages.size();
    if (o.form == PyramidForm::v1 && last) place.class_token = class_token;
    stages_.push_back(std::make_shared<PyramidStage>(o, o.stages[i], place));
    stages->push_back(stages_.back());
    place.blocks_before += o.stages[i].depth;
  }
}

std::vector<GridTokens> PyramidVisionTransformer::run(const torch::Tensor& images, ClassToken class_token) {
  const int64_t step = options_.form == PyramidForm::v1 ? feature_strides().back() : 1;
  TORCH_CHECK(images.dim() == 4 && images.size(1) == options_.image.channels && images.size(2) >= step &&
                  images.size(3) >= step && images.size(2) % step == 0 && images.size(3) % step == 0,
              "pyramid_vision_transformer: images must be (B, ", options_.image.channels,
              ", H, W) with H and W multiples of ", step, ", got ", images.sizes());
  std::vector<GridTokens> tokens;
  GridTokens x = patch_embed_->forward(images);
  for (size_t i = 0; i < stages_.size(); ++i) {
    if (i > 0) x = stages_[i]->embed(nn::map_of(x.tokens, x.grid));
    x.tokens = stages_[i]->forward(x, class_token);
    tokens.push_back(x);
  }
  return tokens;
}

std::vector<torch::Tensor> PyramidVisionTransformer::features(const torch::Tensor& images) {
  std::vector<torch::Tensor> maps;
  for (const GridTokens& stage : run(images, ClassToken::absent)) maps.push_back(nn::map_of(stage.tokens, stage.grid));
  return maps;
}

std::vector<int64_t> PyramidVisionTransformer::feature_channels() const {
  std::vector<int64_t> channels;
  for (const auto& stage : options_.stages) channels.push_back(stage.embed_dim);
  return channels;
}

std::vector<int64_t> PyramidVisionTransformer::feature_strides() const {
  return halving_strides(options_.patch_size, options_.stages.size());
}

std::vector<nn::NormFold> PyramidVisionTransformer::leave_inner_norms() {
  std::vector<nn::NormFold> folded;
  for (size_t i = 0; i + 1 < stages_.size(); ++i) {
    if (!stages_[i]->has_norm()) continue;
    folded.push_back(stages_[i]->leave_norm("the next stage's patches reach beyond the border, where they read zeros"));
    folded.back().name = "stages." + std::to_string(i) + ".norm";
  }
  return folded;
}

std::vector<nn::NormFold> PyramidVisionTransformer::norm_folds() {
  std::vector<nn::NormFold> folded = leave_inner_norms();
  if (!last_stage().has_norm()) return folded;
  folded.push_back(last_stage().leave_norm("the layer that reads the output of this norm is outside the backbone"));
  folded.back().name = "stages." + std::to_string(stages_.size() - 1) + ".norm";
  return folded;
}

PyramidVisionTransformerClassifier::PyramidVisionTransformerClassifier(const PyramidVisionTransformerOptions& o,
                                                                       int64_t classes)
    : Cloneable(o, ClassToken::present), classes_(classes) {
  const int64_t dim = o.stages.back().embed_dim;
  if (o.form == PyramidForm::v1) norm_ = register_module("norm", nn::make_norm(o.plug_ins.norm, dim, kHeadNormEps));
  head_ = register_module("head", std::make_shared<nn::Linear>(dim, classes));
}

torch::Tensor PyramidVisionTransformerClassifier::forward(const torch::Tensor& images) {
  const torch::Tensor x = run(images, ClassToken::present).back().tokens;
  return head_->forward(norm_ ? norm_->forward(x).select(1, 0) : x.mean(1));
}

std::vector<nn::NormFold> PyramidVisionTransformerClassifier::norm_folds() {
  const nn::FoldAffine head = [&](const nn::Affine& before) { head_->fold_affine_before(before); };
  if (norm_) return {nn::fold_into_reader(*this, "norm", norm_, head)};
  std::vector<nn::NormFold> folded = leave_inner_norms();
  folded.push_back(last_stage().fold_norm(head));
  folded.back().name = "stages." + std::to_string(options().stages.size() - 1) + ".norm";
  return folded;
}

}  // namespace cachet::models
