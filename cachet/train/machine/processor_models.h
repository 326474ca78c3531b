#pragma once

#include <filesystem>
#include <string>

namespace cachet::train {

/// Returns the model of the CPU: "AMD EPYC 9B14", or "unknown" if the system does not report the model.
std::string processor_model();

/// Returns the models of the GPUs that NVIDIA's driver lists, without calling the driver: "NVIDIA H200", "2 x NVIDIA
/// H200", "NVIDIA L4, NVIDIA T4". Returns an empty text if NVIDIA's driver is missing.
std::string gpu_models(const std::filesystem::path& driver = "/proc/driver/nvidia");

}  // namespace cachet::train
