#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "cachet/tasks/detection/found_object.h"

namespace cachet::tasks {

struct AnnotationStyle {
  double least_score = 0.3;  // objects of lower scores are not drawn
  bool scores = true;        // after the names of classes
  int64_t least_side = 320;  // smaller pictures are drawn up to four times as large
  int64_t most_side = 0;     // larger ones are made smaller; 0: they stay
};

/// The picture (H, W, 3) uint8 with objects drawn over it: masks as a veil, boxes, names of classes in the class's
/// colour; the surest object is drawn last.
at::Tensor annotated_picture(const at::Tensor& pixels, const std::vector<FoundObject>& objects,
                             const std::vector<std::string>& class_names, const AnnotationStyle& style = {});

/// Two pictures of one height side by side.
at::Tensor side_by_side(const at::Tensor& left, const at::Tensor& right);

}  // namespace cachet::tasks
