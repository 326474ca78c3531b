#pragma once

/// Marks inline functions that CPU sources and CUDA sources both include. A function with this mark is plain C++ and
/// uses only numbers and pointers.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define CACHET_HOST_DEVICE __host__ __device__
#else
#define CACHET_HOST_DEVICE
#endif
