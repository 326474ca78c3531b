#pragma once

namespace cachet::analysis {

/// Registers the meta device's shape functions that models need and that LibTorch has only in Python. Functions that
/// LibTorch already has are not replaced.
void register_meta_kernels();

}  // namespace cachet::analysis
