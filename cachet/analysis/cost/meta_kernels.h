#pragma once

namespace cachet::analysis {

/// Registers the meta device's shape functions that models need and that LibTorch has only in Python. Functions that
/// LibTorch itself has in the meantime are not replaced.
void register_meta_kernels();

}  // namespace cachet::analysis
