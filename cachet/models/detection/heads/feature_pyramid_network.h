#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/models/detection/heads/head_convolution.h"

namespace cachet::models {

/// What the levels above the backbone's last stage are made of.
enum class ExtraLevels {
  pooled,      // every second cell of the level below
  on_input,    // convolutions of stride 2, the first of the backbone's last stage
  on_lateral,  // the same of the last stage after its lateral convolution and the sums
  on_output,   // the same of the last level
};

struct FpnOptions {
  int64_t channels = 256;
  int64_t outputs = 5;      // levels
  int64_t start_level = 0;  // the first stage that takes part
  ExtraLevels extra = ExtraLevels::pooled;
  bool relu_before_extra = false;  // before all extra convolutions but the first

  /// Keys of the table `neck`, as mmdetection has them: out_channels, num_outs, start_level, add_extra_convs ("none",
  /// "on_input", "on_lateral", "on_output"), relu_before_extra_convs. `stages`: of the backbone.
  static FpnOptions read(const config::View& table, FpnOptions defaults, int64_t stages);
};

/// Feature pyramid network (Lin et al., arXiv 1612.03144): every stage's map brought to one width, the one above, twice
/// as large (nearest), added; then smoothed. Parts: lateral_convs, fpn_convs.
class FeaturePyramidNetwork : public nn::Cloneable<FeaturePyramidNetwork> {
 public:
  FeaturePyramidNetwork(const FpnOptions& options, const std::vector<int64_t>& stage_channels);

  /// One map for each stage -> one for each level, the finest first.
  std::vector<at::Tensor> forward(const std::vector<at::Tensor>& stages) const;
  int64_t levels() const { return options_.outputs; }

 private:
  at::Tensor extra_source(const std::vector<at::Tensor>& stages, const std::vector<at::Tensor>& lateral,
                          const at::Tensor& last) const;

  FpnOptions options_;
  std::vector<nn::Submodule<NamedConvolution>> lateral_, smoothing_, extra_;
};

}  // namespace cachet::models
