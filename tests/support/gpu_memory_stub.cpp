// Loaded before all else (LD_PRELOAD), lets LibTorch's allocator of the CPU fail as its allocator of a GPU does, if the
// tensors of the process would exceed CACHET_TEST_GPU_BYTES bytes. Only allocations of the main thread fail.
#include <c10/util/Exception.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

constexpr size_t kAlignment = 64;
std::atomic<int64_t> live{0};

int64_t limit() {
  static const char* const text = std::getenv("CACHET_TEST_GPU_BYTES");
  static const int64_t bytes = text == nullptr ? INT64_MAX : std::atoll(text);
  return bytes;
}

std::string mib(int64_t bytes) { return std::to_string(bytes >> 20) + ".00 MiB"; }

}  // namespace

namespace c10 {

void* alloc_cpu(size_t bytes) {
  if (bytes == 0) return nullptr;
  const int64_t used = live.load();
  if (gettid() == getpid() && used + static_cast<int64_t>(bytes) > limit())
    throw OutOfMemoryError({__func__, __FILE__, __LINE__},
                           "CUDA out of memory. Tried to allocate " + mib(static_cast<int64_t>(bytes)) +
                               ". GPU 0 has a total capacity of " + mib(limit()) + " of which " + mib(limit() - used) +
                               " is free. Including non-PyTorch memory, this process has " + mib(used) +
                               " memory in use. Of the allocated memory " + mib(used) +
                               " is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.");
  void* data = nullptr;
  if (posix_memalign(&data, kAlignment, bytes) != 0) return nullptr;
  live += static_cast<int64_t>(malloc_usable_size(data));
  return data;
}

void free_cpu(void* data) {
  if (data == nullptr) return;
  live -= static_cast<int64_t>(malloc_usable_size(data));
  std::free(data);
}

}  // namespace c10
