#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cachet/config/view.h"

namespace cachet::train {

/// The device that a user chose.
struct DeviceChoice {
  enum class Kind {
    automatic,  // CUDA if this LibTorch and this machine have it, otherwise the CPU
    cpu,
    cuda,
  };
  Kind kind = Kind::automatic;
  int8_t index = 0;  // index among several CUDA devices

  bool operator==(const DeviceChoice&) const = default;
};

/// Parses "auto", "cpu", "cuda" (the first GPU) and "cuda:1". Returns std::nullopt if `word` does not describe a
/// device.
std::optional<DeviceChoice> parse_device(std::string_view word);

/// Reads the value of a key with parse_device(). Does not check whether the device exists, unlike find_device().
DeviceChoice read_device(const config::View& view, std::string_view key);

/// Returns the value of `train.device` from the resolved values of a recipe, which are in TOML's syntax.
DeviceChoice device_of(const std::map<std::string, std::string>& recipe);

}  // namespace cachet::train
