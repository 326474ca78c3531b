#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/models/detection/boxes/box_assignment.h"
#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// Limits on how many of an image's assigned boxes take part in a training step.
struct SampleOptions {
  int64_t count = 256;                  // maximum number of boxes of an image
  double positive_share = 0.5;          // maximum fraction of positives among these boxes
  int64_t negatives_per_positive = -1;  // maximum number of negatives for each positive; below 0: any number
  bool add_objects = false;             // whether the objects' own boxes are added as the first candidates

  /// Reads mmdetection's keys of the table `sampler`: num, pos_fraction, neg_pos_ub, add_gt_as_proposals.
  static SampleOptions read(const config::View& table, SampleOptions defaults);
};

/// The sampled candidates. Indices are in ascending order. If the boxes of objects were added as candidates, they come
/// first.
struct BoxSample {
  at::Tensor positives, negatives;  // (p), (q) int64
  at::Tensor objects;               // (p) int64: the object of each positive
  at::Tensor boxes;                 // (p + q, 4), positives first
  at::Tensor object_boxes;          // (p, 4): the box of each positive's object

  int64_t positive_count() const { return positives.size(0); }
  at::Tensor positive_boxes() const { return boxes.narrow(0, 0, positive_count()); }
};

/// Samples boxes at random. If there are too many candidates, takes the candidates with the lowest `priority`,
/// (candidates) float64.
BoxSample sample(const at::Tensor& boxes, const Assignment& assignment, const at::Tensor& objects,
                 const at::Tensor& priority, const SampleOptions& options);
/// Returns the number of candidates for sampling, including the boxes of objects if options.add_objects is true.
int64_t candidates(const at::Tensor& boxes, const at::Tensor& objects, const SampleOptions& options);

/// Returns all positive and all negative boxes, for a head without sampling.
BoxSample sample_all(const at::Tensor& boxes, const Assignment& assignment, const at::Tensor& objects);

/// Returns priorities that depend only on the seed, the step, the image's number in its data set and the box's index.
/// With these priorities, a resumed run samples the same boxes as an uninterrupted run. `images` has the number of each
/// image of the batch in its data set.
SamplingPriorities counted_priorities(uint64_t seed, uint64_t step, std::vector<uint64_t> images);

}  // namespace cachet::models
