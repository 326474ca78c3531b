#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/models/detection/heads/head_convolution.h"

namespace cachet::models {

/// The maps from which a feature pyramid computes the levels above the backbone's last stage.
enum class ExtraLevels {
  pooled,      // every second cell of the level below
  on_input,    // convolutions of stride 2; the first convolution reads the backbone's last stage
  on_lateral,  // as on_input, but the first convolution reads the last stage after the lateral convolution and the sums
  on_output,   // as on_input, but the first convolution reads the output of the last level
};

struct FpnOptions {
  int64_t channels = 256;
  int64_t outputs = 5;      // number of levels
  int64_t start_level = 0;  // first backbone stage that takes part
  ExtraLevels extra = ExtraLevels::pooled;
  bool relu_before_extra = false;  // whether a ReLU precedes each extra convolution except the first

  /// Reads the keys of the table `neck`, which are mmdetection's: out_channels, num_outs, start_level, add_extra_convs
  /// ("none", "on_input", "on_lateral", "on_output"), relu_before_extra_convs. `stages`: number of backbone stages.
  static FpnOptions read(const config::View& table, FpnOptions defaults, int64_t stages);
};

/// Feature pyramid network (Lin et al., arXiv 1612.03144). The network projects the maps of all stages to the same
/// number of channels. To each map, the network adds the next coarser map, enlarged by a factor of 2 (nearest
/// neighbour), and smooths the sum. Parts: lateral_convs, fpn_convs.
class FeaturePyramidNetwork : public nn::Cloneable<FeaturePyramidNetwork> {
 public:
  FeaturePyramidNetwork(const FpnOptions& options, const std::vector<int64_t>& stage_channels);

  /// Computes the maps of the pyramid's levels from the maps of the backbone's stages, and returns them in order, the
  /// finest map first.
  std::vector<at::Tensor> forward(const std::vector<at::Tensor>& stages) const;
  int64_t levels() const { return options_.outputs; }

 private:
  at::Tensor extra_source(const std::vector<at::Tensor>& stages, const std::vector<at::Tensor>& lateral,
                          const at::Tensor& last) const;

  FpnOptions options_;
  std::vector<nn::Submodule<NamedConvolution>> lateral_, smoothing_, extra_;
};

}  // namespace cachet::models
