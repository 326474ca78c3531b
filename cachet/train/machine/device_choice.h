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
    automatic,  // CUDA where this LibTorch and this machine have it, else the CPU
    cpu,
    cuda,
  };
  Kind kind = Kind::automatic;
  int8_t index = 0;  // of several CUDA devices

  bool operator==(const DeviceChoice&) const = default;
};

/// "auto", "cpu", "cuda" (the first), "cuda:1"; nothing for another word.
std::optional<DeviceChoice> parse_device(std::string_view word);

/// The same as the value of a key. Whether there is such a device is asked when it is used (find_device).
DeviceChoice read_device(const config::View& view, std::string_view key);

/// The value of `train.device` in the resolved values of a recipe, in TOML's spelling.
DeviceChoice device_of(const std::map<std::string, std::string>& recipe);

}  // namespace cachet::train
