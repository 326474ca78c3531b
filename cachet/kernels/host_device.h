#pragma once

/// Marks inline functions that CPU sources and CUDA sources both include. These functions
/// are plain C++ with numbers and pointers.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define CACHET_HOST_DEVICE __host__ __device__
#else
#define CACHET_HOST_DEVICE
#endif
