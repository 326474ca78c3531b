#pragma once

/// Marks inline functions of headers that are included by sources for the CPU and by sources for CUDA. Such functions
/// are plain C++ on numbers and pointers.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define CACHET_HOST_DEVICE __host__ __device__
#else
#define CACHET_HOST_DEVICE
#endif
