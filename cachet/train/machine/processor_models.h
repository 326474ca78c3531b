#pragma once

#include <filesystem>
#include <string>

namespace cachet::train {

/// The model of the CPU: "AMD EPYC 9B14"; "unknown" if the system does not report it.
std::string processor_model();

/// Models of the GPUs that NVIDIA's driver lists, without a call of it: "NVIDIA H200", "2 x NVIDIA H200", "NVIDIA
/// L4, NVIDIA T4". Empty where there is no such driver.
std::string gpu_models(const std::filesystem::path& driver = "/proc/driver/nvidia");

}  // namespace cachet::train
