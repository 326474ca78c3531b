#pragma once

#include "cachet/train/machine/device_choice.h"
#include "cachet/train/options.h"

namespace cachet::train {

/// Returns the meaning of precision = "auto": bfloat16 on CUDA and on processors with bfloat16 multiplication (AMX,
/// AVX-512 BF16), and float32 elsewhere, where bfloat16 products are slower. The choice depends on the hardware, not on
/// a measurement, so two runs of one recipe on machines of one kind are the same.
Precision precision_of_machine(const DeviceChoice& device);

/// Measures the time of typical matrix products of transformers on this processor in bfloat16, divided by the time in
/// float32. Returns the median of several pairs, measured in less than half a second.
double bfloat16_time_ratio();

}  // namespace cachet::train
