#pragma once

#include <cstdint>
#include <memory>
#include <openvino/core/model.hpp>
#include <vector>

#include "cachet/runtime/session.h"

namespace cachet::deploy {

/// Post-training 8-bit quantisation of linear layers and of convolutions with groups = 1. OpenVINO computes quantised
/// layers with integers. The weights of each output channel are rounded to 127 steps, symmetric about zero, so that
/// sums cannot overflow on any processor. Each layer input is rounded to 256 steps between a minimum and a maximum,
/// which are means over the calibration's batches.
class Quantization {
 public:
  explicit Quantization(std::shared_ptr<ov::Model> model);

  /// Returns a session that runs the model in float32 and records layer inputs. Only one session may exist; destroy it
  /// before quantized(). If OpenVINO cannot run the model, calibration() or the session throws CannotConvert.
  std::unique_ptr<runtime::Session> calibration();

  /// Quantises the model's layers in place, and returns the model. Throws c10::Error if no calibration was run before.
  std::shared_ptr<ov::Model> quantized();
  /// Returns the number of layers that multiply in 8 bits.
  int64_t layers() const { return layers_; }

 private:
  class Calibration;
  /// Sums over batches: `least` adds up the minimum of each batch, and `largest` the maximum of each batch.
  struct Range {
    double least = 0, largest = 0;
    int64_t batches = 0;
  };

  std::shared_ptr<ov::Model> model_;
  std::vector<ov::Output<ov::Node>> read_;  // inputs of quantised layers
  std::vector<Range> ranges_;               // ranges of the values in read_
  int64_t layers_ = 0;
};

}  // namespace cachet::deploy
