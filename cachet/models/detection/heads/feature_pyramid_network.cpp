#include "cachet/models/detection/heads/feature_pyramid_network.h"

#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/upsample_nearest2d.h>
#include <torch/nn/modules/container/modulelist.h>

#include <array>
#include <string>

#include "cachet/nn/base/initialization.h"

namespace cachet::models {
namespace {

constexpr std::array<config::Choice<ExtraLevels>, 4> kExtraLevels{{{"none", ExtraLevels::pooled},
                                                                   {"on_input", ExtraLevels::on_input},
                                                                   {"on_lateral", ExtraLevels::on_lateral},
                                                                   {"on_output", ExtraLevels::on_output}}};

std::shared_ptr<NamedConvolution> glorot_convolution(const ConvolutionOptions& options) {
  auto made = std::make_shared<NamedConvolution>(options);
  nn::convolution_xavier_uniform_(made->conv->weight);
  return made;
}

}  // namespace

FpnOptions FpnOptions::read(const config::View& parent, FpnOptions o, int64_t stages) {
  const config::View table = parent.table("neck");
  o.channels = table.integer("out_channels", o.channels, {1, 1 << 14});
  o.outputs = table.integer("num_outs", o.outputs, {1, 16});
  o.start_level = table.integer("start_level", o.start_level, {0, stages - 1});
  o.extra = table.choice("add_extra_convs", o.extra, kExtraLevels);
  o.relu_before_extra = table.boolean("relu_before_extra_convs", o.relu_before_extra);
  if (o.outputs < stages - o.start_level)
    table.problem("num_outs", "must be at least " + std::to_string(stages - o.start_level) +
                                  ", one level for each stage from start_level on");
  return o;
}

FeaturePyramidNetwork::FeaturePyramidNetwork(const FpnOptions& options, const std::vector<int64_t>& stage_channels)
    : Cloneable("FPN"), options_(options) {
  const auto& o = options_;
  const auto stages = static_cast<int64_t>(stage_channels.size());
  TORCH_CHECK(o.start_level >= 0 && o.start_level < stages && o.outputs >= stages - o.start_level,
              "feature_pyramid_network: there must be a level for each stage from the start level on, got ", o.outputs,
              " levels, the start level ", o.start_level, " and ", stages, " stages");
  const auto lateral = register_module("lateral_convs", torch::nn::ModuleList());
  const auto smoothing = register_module("fpn_convs", torch::nn::ModuleList());
  for (int64_t i = o.start_level; i < stages; ++i) {
    lateral_.push_back(glorot_convolution({stage_channels[static_cast<size_t>(i)], o.channels, 1}));
    lateral->push_back(lateral_.back());
  }
  for (size_t i = 0; i < lateral_.size(); ++i) {
    smoothing_.push_back(glorot_convolution({o.channels, o.channels}));
    smoothing->push_back(smoothing_.back());
  }
  if (o.extra == ExtraLevels::pooled) return;
  for (int64_t i = stages - o.start_level; i < o.outputs; ++i) {
    const bool of_stage = extra_.empty() && o.extra == ExtraLevels::on_input;
    extra_.push_back(glorot_convolution({of_stage ? stage_channels.back() : o.channels, o.channels, 3, 2}));
    smoothing->push_back(extra_.back());
  }
}

at::Tensor FeaturePyramidNetwork::extra_source(const std::vector<at::Tensor>& stages,
                                               const std::vector<at::Tensor>& lateral, const at::Tensor& last) const {
  switch (options_.extra) {
    case ExtraLevels::on_input:
      return stages.back();
    case ExtraLevels::on_lateral:
      return lateral.back();
    case ExtraLevels::on_output:
    case ExtraLevels::pooled:
      break;
  }
  return last;
}

std::vector<at::Tensor> FeaturePyramidNetwork::forward(const std::vector<at::Tensor>& stages) const {
  const auto first = static_cast<size_t>(options_.start_level);
  TORCH_CHECK(stages.size() == first + lateral_.size(), "feature_pyramid_network: needs ", first + lateral_.size(),
              " maps, one for each stage, got ", stages.size());
  std::vector<at::Tensor> lateral, levels;
  for (size_t i = 0; i < lateral_.size(); ++i) lateral.push_back(lateral_[i]->forward(stages[first + i]));
  for (size_t i = lateral.size() - 1; i > 0; --i)
    lateral[i - 1] =
        lateral[i - 1] + at::upsample_nearest2d(lateral[i], {lateral[i - 1].size(2), lateral[i - 1].size(3)});
  for (size_t i = 0; i < lateral.size(); ++i) levels.push_back(smoothing_[i]->forward(lateral[i]));
  at::Tensor source = extra_source(stages, lateral, levels.back());
  for (size_t i = 0; static_cast<int64_t>(levels.size()) < options_.outputs; ++i) {
    if (extra_.empty())
      source = at::max_pool2d(source, 1, 2);
    else
      source = extra_[i]->forward(i > 0 && options_.relu_before_extra ? source.relu() : source);
    levels.push_back(source);
  }
  return levels;
}

}  // namespace cachet::models
