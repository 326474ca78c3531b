#pragma once

#include "cachet/train/machine/device_choice.h"
#include "cachet/train/options.h"

namespace cachet::train {

/// What precision = "auto" means: bfloat16 on CUDA, and on processors that multiply it (AMX, AVX-512 BF16); float32
/// elsewhere, where products in bfloat16 are slower. By what the machine has, never by a measurement: two runs of one
/// recipe on machines of one kind are the same.
Precision precision_of_machine(const DeviceChoice& device);

/// How long a product of matrices as they occur in transformers takes on this processor in bfloat16, as a multiple of
/// its time in float32: the median of pairs, in less than half a second.
double bfloat16_time_ratio();

}  // namespace cachet::train
