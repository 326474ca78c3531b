#include "cachet/nn/attention/spatial_reduction_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include "cachet/nn/base/initialization.h"
#include "cachet/nn/base/option_checks.h"
#include "cachet/ops/linear/linear.h"

namespace cachet::nn {
namespace {

constexpr int64_t kPooledSide = 7;
constexpr double kReductionNormEps = 1e-5;  // of both published codes

}  // namespace

SpatialReductionAttention::SpatialReductionAttention(const MultiHeadOptions& options,
                                                     const SpatialReductionOptions& reduction)
    : Cloneable(options),
      form_(reduction.form),
      dim_(options.dim),
      ratio_(reduction.form == ReductionForm::pooling ? 1 : reduction.ratio) {
  TORCH_CHECK(options.projection == Projection::separate,
              "spatial_reduction_attention: keys and queries need separate projections, because keys come from fewer "
              "tokens; use Projection::separate");
  check_positive("spatial_reduction_attention: ratio", reduction.ratio);
  if (form_ == ReductionForm::convolution && ratio_ == 1) return;
  sr_ = register_module("sr", std::make_shared<ModuleGroup>("SpatialReduction"));
  weight_ = sr_->register_parameter("weight", at::empty({options.dim, options.dim, ratio_, ratio_}));
  bias_ = sr_->register_parameter("bias", at::zeros({options.dim}));
  convolution_normal_(weight_);
  norm_ = register_module("norm", make_norm(reduction.norm, options.dim, kReductionNormEps));
}

Grid SpatialReductionAttention::reduced_grid(const Grid& grid) const {
  if (form_ == ReductionForm::pooling) return {kPooledSide, kPooledSide};
  return {grid.height / ratio_, grid.width / ratio_};
}

torch::Tensor SpatialReductionAttention::reduce(const torch::Tensor& context, TokenLayout& layout) const {
  TORCH_CHECK(layout.grid, "spatial_reduction_attention: the context must lie on a grid");
  TORCH_CHECK(!layout.padding.defined(), "spatial_reduction_attention: the context must not have padding");
  TORCH_CHECK(!folded_ || layout.class_tokens == 0,
              "spatial_reduction_attention: cannot have class tokens, because an affine map was folded into the "
              "convolution, which does not read class tokens");
  const Grid grid = *layout.grid;
  TORCH_CHECK(grid.height >= ratio_ && grid.width >= ratio_, "spatial_reduction_attention: a grid of ", grid.height,
              " x ", grid.width, " is too small to be reduced by ", ratio_, "; use a larger image or a smaller ratio");
  const torch::Tensor map = map_of(context.slice(1, layout.class_tokens), grid);
  torch::Tensor tokens;
  layout.grid = reduced_grid(grid);
  if (form_ == ReductionForm::pooling) {
    const torch::Tensor pooled = tokens_of(at::adaptive_avg_pool2d(map, {kPooledSide, kPooledSide}));
    tokens = ops::linear(pooled, weight_.flatten(1), bias_);
  } else {
    tokens = tokens_of(at::conv2d(map, weight_, bias_, ratio_));
  }
  if (layout.class_tokens > 0) tokens = at::cat({context.slice(1, 0, layout.class_tokens), tokens}, 1);
  const torch::Tensor normed = norm_->forward(tokens);
  return form_ == ReductionForm::pooling ? at::gelu(normed) : normed;
}

torch::Tensor SpatialReductionAttention::forward(const torch::Tensor& query, const torch::Tensor& context,
                                                 const AttentionArgs& args) {
  if (!sr_) return MultiHeadAttention::forward(query, context, args);
  check_tokens("spatial_reduction_attention: context", context, dim_, args.context);
  TORCH_CHECK(!args.causal && !args.state && !args.bias.defined(),
              "spatial_reduction_attention: cannot use a causal mask, a session state or an attention bias, because "
              "the keys are reduced");
  AttentionArgs reduced = args;
  const torch::Tensor keys = reduce(context, reduced.context);
  return MultiHeadAttention::forward(query, keys, reduced);
}

void SpatialReductionAttention::concatenate_cache(int64_t tokens, const TokenLayout& layout) {
  if (!sr_) return MultiHeadAttention::concatenate_cache(tokens, layout);
  TORCH_CHECK(layout.grid, "spatial_reduction_attention: a concatenated cache needs tokens on a grid");
  TokenLayout reduced = layout;
  reduced.grid = reduced_grid(*layout.grid);
  MultiHeadAttention::concatenate_cache(reduced.class_tokens + reduced.grid->tokens(), reduced);
}

std::shared_ptr<Attention> SpatialReductionAttention::freeze_cache() const {
  const auto frozen = std::make_shared<SpatialReductionAttention>(*this);
  frozen->hold_memory();
  return frozen;
}

void SpatialReductionAttention::fold_affine_before(const Affine& before) {
  if (!sr_) return MultiHeadAttention::fold_affine_before(before);
  fold_affine_into_query(before);
  // Neither the convolution nor the pooling before it reads beyond the border.
  fold_input_affine("spatial_reduction_attention", before, weight_, bias_);
  folded_ = true;
}

std::vector<NormFold> SpatialReductionAttention::norm_folds() {
  if (!norm_) return {};
  if (form_ == ReductionForm::convolution)
    return {fold_into_reader(*this, "norm", norm_, [&](const Affine& before) { fold_affine_into_context(before); })};
  return {fold_into_writer(*this, "norm", norm_, [&](const Affine& after) {
    fold_output_affine("spatial_reduction_attention", after, weight_, bias_);
    folded_ = true;
  })};
}

std::shared_ptr<Attention> SpatialReductionAttention::with_fixed_context(const torch::Tensor& context,
                                                                         const TokenLayout& layout) const {
  if (!sr_) return MultiHeadAttention::with_fixed_context(context, layout);
  TORCH_CHECK(!is_training(),
              "spatial_reduction_attention: constant keys and values are for evaluation only; call eval() first");
  check_tokens("spatial_reduction_attention: context", context, dim_, layout);
  const at::NoGradGuard no_grad;
  TokenLayout reduced = layout;
  const torch::Tensor keys = reduce(context, reduced);
  return MultiHeadAttention::with_fixed_context(keys, reduced);
}

}  // namespace cachet::nn
