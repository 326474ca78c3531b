#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "cachet/train/machine/device_choice.h"

namespace cachet::train {

/// Returns the devices that this LibTorch can use on this machine: the CPU, then "cuda:0", "cuda:1", …
std::vector<c10::Device> available_devices();

/// Returns the chosen device. If the device does not exist, throws std::runtime_error, which names the available
/// devices.
c10::Device find_device(const DeviceChoice& choice, const std::vector<c10::Device>& available = available_devices());

/// Returns the device choice for process number `process` of several processes on a machine. For "cuda", and for "auto"
/// if there are GPUs, returns the process's own GPU; otherwise the device of `choice`. If there are fewer GPUs than
/// processes, throws std::runtime_error; otherwise some processes would train on the CPU, which rounds differently.
DeviceChoice choice_of_process(const DeviceChoice& choice, int64_t process,
                               const std::vector<c10::Device>& available = available_devices());

/// Returns the device of a model's parameters.
c10::Device device_of(const torch::nn::Module& model);

/// Moves parameters and buffers to a device. Tensors that several modules share remain shared.
void place(torch::nn::Module& model, c10::Device device);

/// Moves the tensors of a batch to a device; undefined tensors stay undefined. Copies from the CPU to CUDA use pinned
/// memory and are asynchronous: only computations that use the copied tensors wait for the copies.
void move_to(c10::Device device, std::initializer_list<at::Tensor*> tensors);

/// Returns the peak bytes of tensors on a CUDA device since the process began or reset_device_peak() was called, or
/// std::nullopt for other devices.
std::optional<int64_t> device_peak_bytes(c10::Device device);

/// Starts the count of device_peak_bytes() again. Does nothing for other devices than CUDA devices.
void reset_device_peak(c10::Device device);

}  // namespace cachet::train
