#pragma once

namespace cachet::analysis {

/// Gives the meta device the shape functions that models need and LibTorch has in Python alone. Those that LibTorch
/// itself has by now stay as they are.
void register_meta_kernels();

}  // namespace cachet::analysis
