#pragma once

#include <cstdint>
#include <memory>
#include <openvino/core/model.hpp>
#include <vector>

#include "cachet/runtime/session.h"

namespace cachet::deploy {

/// Post-training quantisation to 8 bits of linear layers and convolutions in one group: what OpenVINO finds in such a
/// model it multiplies as integers. Weights are rounded per output channel to 127 steps symmetric to zero, with which
/// sums overflow on no processor; what the layers read is rounded per tensor to 256, between its least and largest
/// number, each the mean over the calibration's batches.
class Quantization {
 public:
  explicit Quantization(std::shared_ptr<ov::Model> model);

  /// Answers as the model does, in float32, and notes what the layers read. One at a time; ends before quantized(). It
  /// and its calls throw CannotConvert if OpenVINO cannot run the model.
  std::unique_ptr<runtime::Session> calibration();

  /// The model with rounded products, in place. Throws c10::Error where no calibration has run.
  std::shared_ptr<ov::Model> quantized();
  /// How many layers multiply in 8 bits.
  int64_t layers() const { return layers_; }

 private:
  class Calibration;
  /// Sums over batches of the least and the largest number.
  struct Range {
    double least = 0, largest = 0;
    int64_t batches = 0;
  };

  std::shared_ptr<ov::Model> model_;
  std::vector<ov::Output<ov::Node>> read_;  // by quantised layers
  std::vector<Range> ranges_;               // of these
  int64_t layers_ = 0;
};

}  // namespace cachet::deploy
