#include <array>

#include "cachet/models/registered_model.h"
#include "cachet/models/vision/pyramid_vision_transformer.h"

namespace cachet::models {
namespace {

using PerStage = std::array<int64_t, 4>;

// All members have heads of 32 to 64 channels; the feed-forward halves of the first stages are wide.
RegisteredModel pvt(const char* name, PyramidForm form, const PerStage& dims, const PerStage& depths,
                    const std::array<double, 4>& mlp_ratios = {8, 8, 4, 4}) {
  constexpr PerStage kHeads{1, 2, 5, 8}, kReductions{8, 4, 2, 1};
  PyramidVisionTransformerOptions o;
  o.form = form;
  for (size_t i = 0; i < 4; ++i) o.stages.push_back({dims[i], depths[i], kHeads[i], mlp_ratios[i], kReductions[i]});
  return pyramid_member<PyramidVisionTransformer, PyramidVisionTransformerClassifier>(
      name, o, read_pyramid_vision_transformer_options);
}

}  // namespace

std::vector<RegisteredModel> pyramid_vision_transformer_models() {
  constexpr PerStage kDims{64, 128, 320, 512};
  constexpr auto v1 = PyramidForm::v1, v2 = PyramidForm::v2;
  return {pvt("pvt_tiny", v1, kDims, {2, 2, 2, 2}),
          pvt("pvt_small", v1, kDims, {3, 4, 6, 3}),
          pvt("pvt_medium", v1, kDims, {3, 4, 18, 3}),
          pvt("pvt_large", v1, kDims, {3, 8, 27, 3}),
          pvt("pvt_v2_b0", v2, {32, 64, 160, 256}, {2, 2, 2, 2}),
          pvt("pvt_v2_b1", v2, kDims, {2, 2, 2, 2}),
          pvt("pvt_v2_b2", v2, kDims, {3, 4, 6, 3}),
          pvt("pvt_v2_b2_li", PyramidForm::v2_linear, kDims, {3, 4, 6, 3}),
          pvt("pvt_v2_b3", v2, kDims, {3, 4, 18, 3}),
          pvt("pvt_v2_b4", v2, kDims, {3, 8, 27, 3}),
          pvt("pvt_v2_b5", v2, kDims, {3, 6, 40, 3}, {4, 4, 4, 4})};
}

}  // namespace cachet::models
