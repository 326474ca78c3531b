#include "app/keep_memory.h"

#include <cstdlib>
#include <initializer_list>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace cachet::app {

void keep_memory() {
#ifdef __GLIBC__
  for (const char* own : {"MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES"})
    if (std::getenv(own) != nullptr) return;
  constexpr int kBlock = 1 << 30, kOlderGlibcBlock = 32 << 20, kKept = 0x7FFFFFFF;
  if (mallopt(M_MMAP_THRESHOLD, kBlock) == 0) mallopt(M_MMAP_THRESHOLD, kOlderGlibcBlock);
  mallopt(M_TRIM_THRESHOLD, kKept);
#endif
}

}  // namespace cachet::app
