#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/models/detection/boxes/box_assignment.h"
#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// How many of the assigned boxes of an image take part in a step.
struct SampleOptions {
  int64_t count = 256;                  // of an image at most
  double positive_share = 0.5;          // of these at most
  int64_t negatives_per_positive = -1;  // at most; below 0: any number
  bool add_objects = false;             // whether the objects' own boxes are candidates too, in front of the others

  /// Keys of the table `sampler`, as mmdetection has them: num, pos_fraction, neg_pos_ub, add_gt_as_proposals.
  static SampleOptions read(const config::View& table, SampleOptions defaults);
};

/// The sampled candidates, as indices in rising order. If objects were added, they come first.
struct BoxSample {
  at::Tensor positives, negatives;  // (p), (q) int64
  at::Tensor objects;               // (p) int64: that of each positive
  at::Tensor boxes;                 // (p + q, 4), positives first
  at::Tensor object_boxes;          // (p, 4)

  int64_t positive_count() const { return positives.size(0); }
  at::Tensor positive_boxes() const { return boxes.narrow(0, 0, positive_count()); }
};

/// Takes at random, by priority: of too many candidates those of the lowest. `priority` (candidates) float64.
BoxSample sample(const at::Tensor& boxes, const Assignment& assignment, const at::Tensor& objects,
                 const at::Tensor& priority, const SampleOptions& options);
/// How many candidates there are, objects included where they are added.
int64_t candidates(const at::Tensor& boxes, const at::Tensor& objects, const SampleOptions& options);

/// All positive and all negative boxes, as a head without sampling takes them.
BoxSample sample_all(const at::Tensor& boxes, const Assignment& assignment, const at::Tensor& objects);

/// Priorities that are a function of the seed, the step, the image's number in its data set and the index alone: a
/// resumed run draws what the uninterrupted run would draw. `images` has one number for each image of the batch.
SamplingPriorities counted_priorities(uint64_t seed, uint64_t step, std::vector<uint64_t> images);

}  // namespace cachet::models
