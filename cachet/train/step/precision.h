#pragma once

#include "cachet/train/machine/device_choice.h"
#include "cachet/train/options.h"

namespace cachet::train {

/// Returns the meaning of precision = "auto": bfloat16 on CUDA, and on processors that multiply it (AMX, AVX-512 BF16);
/// float32 elsewhere, because products in bfloat16 are slower there. The choice depends on the hardware, never on a
/// measurement: two runs of one recipe on machines of one kind are the same.
Precision precision_of_machine(const DeviceChoice& device);

/// Returns the time of typical matrix products of transformers on this processor in bfloat16, divided by the time in
/// float32: the median of pairs, measured in less than half a second.
double bfloat16_time_ratio();

}  // namespace cachet::train
