#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "cachet/tasks/detection/found_object.h"

namespace cachet::tasks {

struct AnnotationStyle {
  double least_score = 0.3;  // objects with lower scores are not drawn
  bool scores = true;        // whether scores follow the names of classes
  int64_t least_side = 320;  // pictures with a shorter side are drawn up to four times as large
  int64_t most_side = 0;     // the length to which a picture's longer side is reduced; 0: no reduction
};

/// Returns the picture (H, W, 3) uint8 with drawn objects: translucent masks, boxes, and class names in the colour of
/// the class. The object with the highest score is drawn last.
at::Tensor annotated_picture(const at::Tensor& pixels, const std::vector<FoundObject>& objects,
                             const std::vector<std::string>& class_names, const AnnotationStyle& style = {});

/// Puts two pictures of equal height side by side.
at::Tensor side_by_side(const at::Tensor& left, const at::Tensor& right);

}  // namespace cachet::tasks
