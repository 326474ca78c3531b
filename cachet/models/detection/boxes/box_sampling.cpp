#include "cachet/models/detection/boxes/box_sampling.h"

#include <ATen/ATen.h>

namespace cachet::models {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014).
constexpr uint64_t kGoldenStep = 0x9e3779b97f4a7c15;

uint64_t scrambled(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Of (n) candidates those of the lowest priority, at most `most`, in rising order.
at::Tensor lowest(const at::Tensor& candidates, const at::Tensor& priority, int64_t most) {
  if (candidates.size(0) <= most) return candidates;
  const at::Tensor order =
      std::get<1>(at::sort(priority.index_select(0, candidates), /*stable=*/std::optional<bool>(true), /*dim=*/0));
  return std::get<0>(candidates.index_select(0, order.narrow(0, 0, most)).sort());
}

at::Tensor places_where(const at::Tensor& mask) { return mask.nonzero().squeeze(1); }

BoxSample taken(const at::Tensor& boxes, const at::Tensor& assigned, const at::Tensor& objects, at::Tensor positives,
                at::Tensor negatives) {
  BoxSample sample{std::move(positives), std::move(negatives), {}, {}, {}};
  sample.objects = assigned.index_select(0, sample.positives) - 1;
  sample.boxes = boxes.index_select(0, at::cat({sample.positives, sample.negatives}));
  sample.object_boxes = objects.index_select(0, sample.objects).to(boxes.scalar_type());
  return sample;
}

}  // namespace

SampleOptions SampleOptions::read(const config::View& parent, SampleOptions o) {
  const config::View table = parent.table("sampler");
  o.count = table.integer("num", o.count, {1, 1'000'000});
  o.positive_share = table.real("pos_fraction", o.positive_share, {0.0, 1.0});
  o.negatives_per_positive = table.integer("neg_pos_ub", o.negatives_per_positive, {-1, 1'000'000});
  o.add_objects = table.boolean("add_gt_as_proposals", o.add_objects);
  return o;
}

int64_t candidates(const at::Tensor& boxes, const at::Tensor& objects, const SampleOptions& o) {
  return boxes.size(0) + (o.add_objects ? objects.size(0) : 0);
}

BoxSample sample(const at::Tensor& boxes, const Assignment& assignment, const at::Tensor& objects,
                 const at::Tensor& priority, const SampleOptions& o) {
  at::Tensor all = boxes, assigned = assignment.objects;
  if (o.add_objects) {
    all = at::cat({objects.to(boxes.scalar_type()), boxes});
    assigned = at::cat({at::arange(1, objects.size(0) + 1, assigned.options()), assigned});
  }
  TORCH_CHECK(priority.dim() == 1 && priority.size(0) == all.size(0),
              "sampling: priorities must have one value for each of the ", all.size(0), " candidates, got ",
              priority.sizes());
  const at::Tensor by = priority.to(all.device());
  const auto most_positive = static_cast<int64_t>(static_cast<double>(o.count) * o.positive_share);
  at::Tensor positives = lowest(places_where(assigned > 0), by, most_positive);
  int64_t most_negative = o.count - positives.size(0);
  if (o.negatives_per_positive >= 0)
    most_negative = std::min(most_negative, o.negatives_per_positive * std::max<int64_t>(1, positives.size(0)));
  at::Tensor negatives = lowest(places_where(assigned == 0), by, most_negative);
  return taken(all, assigned, objects, std::move(positives), std::move(negatives));
}

BoxSample sample_all(const at::Tensor& boxes, const Assignment& assignment, const at::Tensor& objects) {
  return taken(boxes, assignment.objects, objects, places_where(assignment.objects > 0),
               places_where(assignment.objects == 0));
}

SamplingPriorities counted_priorities(uint64_t seed, uint64_t step, std::vector<uint64_t> images) {
  return [=, images = std::move(images)](SamplingPlace place, size_t image, int64_t count) {
    uint64_t state = scrambled(seed + kGoldenStep);
    for (const uint64_t key : {step, images.at(image), static_cast<uint64_t>(place)})
      state = scrambled(state ^ (key + kGoldenStep));
    const at::Tensor priorities = at::empty({count}, at::kDouble);
    auto* values = priorities.mutable_data_ptr<double>();
    for (int64_t i = 0; i < count; ++i)
      values[i] = static_cast<double>(scrambled(state += kGoldenStep) >> 11) * 0x1p-53;
    return priorities;
  };
}

}  // namespace cachet::models
