#pragma once

// Macros for kernels that are templates over their number type. The macros compile a kernel for each instruction set,
// and select an instance at run time. In the source of a kernel:
//   inside HWY_NAMESPACE   template <class T> void AddRows(const T* a, …) {…}   CACHET_KERNEL(AddRows);
//   under HWY_ONCE         CACHET_EXPORT(AddRows);
//                          template <class T> void add_rows(const T* a, …) { CACHET_DISPATCH(AddRows, T)(a, …); }
//   and then a macro of explicit instantiations, as argument of CACHET_INSTANTIATE.

#include <hwy/highway.h>

#include <type_traits>

#include "cachet/kernels/bfloat16.h"

// The instances of a kernel for float and for BFloat16 need names, because Highway's tables hold names.
#define CACHET_KERNEL(Name)                \
  constexpr auto& Name##F32 = Name<float>; \
  constexpr auto& Name##BF16 = Name<BFloat16>

#define CACHET_EXPORT(Name) \
  HWY_EXPORT(Name##F32);    \
  HWY_EXPORT(Name##BF16)

/// Returns the instance of the kernel Name<T> for this processor.
#define CACHET_DISPATCH(Name, T)                \
  [] {                                          \
    if constexpr (std::is_same_v<T, float>)     \
      return &HWY_DYNAMIC_DISPATCH(Name##F32);  \
    else                                        \
      return &HWY_DYNAMIC_DISPATCH(Name##BF16); \
  }()

/// Instantiates the kernels of a file for both number types.
#define CACHET_INSTANTIATE(Forms) Forms(float) Forms(BFloat16)
