#pragma once

#include "cachet/train/machine/device_choice.h"
#include "cachet/train/options.h"

namespace cachet::train {

/// Returns the precision that "auto" selects: bfloat16 on CUDA and on processors with bfloat16 multiplication (AMX,
/// AVX-512 BF16), and float32 elsewhere, where bfloat16 products are slower. Because the precision depends on the
/// hardware and not on a measurement, two runs of one recipe on machines of one kind have the same precision.
Precision precision_of_machine(const DeviceChoice& device);

/// Measures the time of a transformer's typical matrix products on this processor in bfloat16, divided by the time in
/// float32. Returns the median of several measured ratios. The measurement takes less than half a second.
double bfloat16_time_ratio();

}  // namespace cachet::train
