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

/// What this LibTorch can use on this machine: the CPU, then "cuda:0", "cuda:1", …
std::vector<c10::Device> available_devices();

/// The device that is meant. Throws std::runtime_error that names those that there are.
c10::Device find_device(const DeviceChoice& choice, const std::vector<c10::Device>& available = available_devices());

/// What `choice` means for one of several processes on a machine, by its number: its own GPU for "cuda", or for "auto"
/// if there are GPUs; otherwise the device of `choice`. Throws std::runtime_error if there are fewer GPUs than
/// processes, because some would train on the CPU, which rounds differently.
DeviceChoice choice_of_process(const DeviceChoice& choice, int64_t process,
                               const std::vector<c10::Device>& available = available_devices());

/// The device of a model's parameters.
c10::Device device_of(const torch::nn::Module& model);

/// Moves parameters and buffers to a device, unless they are there. Tensors that modules share stay shared.
void place(torch::nn::Module& model, c10::Device device);

/// Moves the tensors of a batch to a device; undefined ones stay. From the CPU to CUDA they are copied from pinned
/// memory and nobody waits for the copy: what is computed with them on the device does.
void move_to(c10::Device device, std::initializer_list<at::Tensor*> tensors);

/// The most bytes that tensors took at a time on a CUDA device since the process began; nothing for another.
std::optional<int64_t> device_peak_bytes(c10::Device device);

}  // namespace cachet::train
