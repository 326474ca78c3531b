#include "cachet/models/detection/heads/roi_extractor.h"

#include <ATen/ATen.h>

#include "cachet/config/counted_list.h"
#include "cachet/ops/detection/roi_align.h"

namespace cachet::models {

RoiExtractorOptions RoiExtractorOptions::read(const config::View& table, RoiExtractorOptions o) {
  o.side = table.integer("output_size", o.side, {1, 256});
  o.sampling = table.integer("sampling_ratio", o.sampling, {0, 64});
  o.strides = config::counted_integers(table, "featmap_strides", o.strides, {1, 16}, {1, 1 << 12});
  o.finest_scale = table.real("finest_scale", o.finest_scale, {1.0, 1e4});
  return o;
}

at::Tensor roi_levels(const at::Tensor& boxes, const RoiExtractorOptions& o) {
  const at::Tensor area = (boxes.select(1, 2) - boxes.select(1, 0)) * (boxes.select(1, 3) - boxes.select(1, 1));
  // A box that is not finite has a level, too: each box has a region.
  return (area.sqrt() / o.finest_scale + 1e-6)
      .log2()
      .floor()
      .nan_to_num(0)
      .clamp(0, static_cast<double>(o.strides.size() - 1))
      .to(at::kLong);
}

at::Tensor extract_rois(const std::vector<at::Tensor>& levels, const at::Tensor& boxes, const RoiExtractorOptions& o) {
  TORCH_CHECK(levels.size() >= o.strides.size(), "extract_rois: needs at least ", o.strides.size(), " levels, got ",
              levels.size());
  const at::Tensor level = roi_levels(boxes.narrow(1, 1, 4), o);
  std::vector<at::Tensor> cut, indices;
  for (size_t i = 0; i < o.strides.size(); ++i) {
    const at::Tensor here = (level == static_cast<int64_t>(i)).nonzero().squeeze(1);
    const ops::RoiAlignOptions align{o.side, o.side, 1.0 / static_cast<double>(o.strides[i]), o.sampling};
    // Channels densest, so that boxes are put in their order without a change of layout.
    cut.push_back(ops::roi_align(levels[i], boxes.index_select(0, here), align).permute({0, 2, 3, 1}));
    indices.push_back(here);
  }
  const at::Tensor back = at::cat(indices).argsort();
  return at::cat(cut).index_select(0, back).permute({0, 3, 1, 2});
}

}  // namespace cachet::models
