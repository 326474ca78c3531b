#pragma once

#include <openvino/core/except.hpp>

#include "cachet/deploy/cannot_convert.h"
#include "cachet/runtime/openvino/openvino_core.h"

namespace cachet::deploy {

/// Returns the result of `act`. Converts an error of OpenVINO to CannotConvert, "OpenVINO reports: …".
template <class Act>
auto told_by_openvino(const Act& act) {
  try {
    return act();
  } catch (const ov::Exception& error) {
    throw CannotConvert("OpenVINO reports: " + runtime::reason(error));
  }
}

}  // namespace cachet::deploy
