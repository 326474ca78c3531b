#include "cachet/nn/norm/group_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <string>

namespace cachet::nn {
namespace {

GroupNormOptions read_group_norm(const config::View& table) {
  GroupNormOptions o;
  o.groups = table.integer("groups", o.groups, {1, 1 << 20});
  o.eps = table.real("eps", o.eps, NormRanges::kEps);
  return o;
}

std::string misfit_text(int64_t groups, int64_t channels) {
  int64_t divisor = std::clamp<int64_t>(groups, 1, channels);
  while (channels % divisor != 0) --divisor;
  return "must be a divisor of the number of channels, such as " + std::to_string(divisor) + ", but " +
         std::to_string(groups) + " does not divide the " + std::to_string(channels) + " channels";
}

bool divides(int64_t groups, int64_t channels) { return groups >= 1 && channels % groups == 0; }

std::optional<Misfit> misfit_of_groups(const GroupNormOptions& o, int64_t channels) {
  if (divides(o.groups, channels)) return std::nullopt;
  return Misfit{"groups", misfit_text(o.groups, channels)};
}

}  // namespace

constinit const NormKind<GroupNormOptions> GroupNormOptions::kKind{
    .name = "group",
    .read = read_group_norm,
    .make = [](const GroupNormOptions& o, int64_t channels, double) -> std::shared_ptr<Norm> {
      return std::make_shared<GroupNorm>(channels, o.groups, o.eps);
    },
    .statistics = NormStatistics::sample,
    .exports = Export::traced,
    .misfit = misfit_of_groups};

constinit const NormKind<InstanceNormOptions> InstanceNormOptions::kKind{
    .name = "instance",
    .read =
        [](const config::View& table) {
          return InstanceNormOptions{table.real("eps", InstanceNormOptions{}.eps, NormRanges::kEps)};
        },
    .make = [](const InstanceNormOptions& o, int64_t channels, double) -> std::shared_ptr<Norm> {
      return std::make_shared<GroupNorm>(channels, channels, o.eps);
    },
    .statistics = NormStatistics::sample,
    .exports = Export::traced};

GroupNorm::GroupNorm(int64_t channels, int64_t groups, double eps)
    : Cloneable("GroupNorm"), groups_(groups), eps_(eps) {
  TORCH_CHECK(channels >= 1 && eps >= 0, "group_norm: needs at least one channel and eps of at least 0, got ", channels,
              " and ", eps);
  TORCH_CHECK(divides(groups, channels), "group_norm: groups ", misfit_text(groups, channels));
  weight = register_parameter("weight", at::ones({channels}));
  bias = register_parameter("bias", at::zeros({channels}));
}

torch::Tensor GroupNorm::forward(const torch::Tensor& x, const torch::Tensor& token_mask) {
  const int64_t channels = weight.size(0), in_group = channels / groups_;
  check_channels("group_norm", x, channels);
  const int64_t samples = x.dim() > 1 ? x.size(0) : 1;
  int64_t tokens = 1;
  for (int64_t dim = 1; dim + 1 < x.dim(); ++dim) tokens *= x.size(dim);

  TORCH_CHECK(!is_training() || tokens * in_group != 1,
              "group_norm: a group of one channel needs at least two tokens to train, "
              "got an input of ",
              x.sizes(), "; use fewer groups, or another norm");
  torch::Tensor wide =
      x.to(c10::promoteTypes(x.scalar_type(), at::kFloat)).reshape({samples, tokens, groups_, in_group});
  torch::Tensor padding, count;
  if (token_mask.defined()) {
    padding = token_mask.reshape({samples, tokens, 1, 1});
    const torch::Tensor valid = padding.bitwise_not().to(wide.scalar_type());
    count = valid.sum({1, 3}, /*keepdim=*/true).clamp_min(1) * in_group;
    wide = wide.masked_fill(padding, 0);
  }
  const auto mean_of = [&](const torch::Tensor& t) {
    if (!padding.defined()) return t.mean({1, 3}, /*keepdim=*/true);
    return t.masked_fill(padding, 0).sum({1, 3}, /*keepdim=*/true) / count;
  };
  const torch::Tensor centred = wide - mean_of(wide);
  const torch::Tensor normed = centred * at::rsqrt(mean_of(centred.square()) + eps_);
  return (normed.reshape(x.sizes()) * weight + bias).to(x.scalar_type());
}

SplitNorm GroupNorm::split() const {
  const auto core = std::make_shared<GroupNorm>(weight.size(0), groups_, eps_);
  core->to(weight.device(), weight.scalar_type());
  core->train(is_training());
  return {core, {weight.detach().clone(), bias.detach().clone()}};
}

}  // namespace cachet::nn
