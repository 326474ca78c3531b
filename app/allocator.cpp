#include "app/allocator.h"

#ifdef CACHET_JEMALLOC
#include <jemalloc/jemalloc.h>

#include <cstdint>
#include <cstdlib>

// Freed memory is kept for the next tensors. jemalloc reads this before main, and then MALLOC_CONF of the environment.
const char* malloc_conf = "dirty_decay_ms:-1,muzzy_decay_ms:-1";
#endif

namespace cachet::app {
namespace {

#ifdef CACHET_JEMALLOC
template <class Value>
Value jemalloc_says(const char* name) {
  Value value{};
  size_t size = sizeof(value);
  return mallctl(name, &value, &size, nullptr, 0) == 0 ? value : Value{};
}

/// Whether malloc is jemalloc's: a program may be started with another in front of it.
bool jemalloc_serves() {
  const auto before = jemalloc_says<uint64_t>("thread.allocated");
  void* volatile block = std::malloc(1);  // volatile: or the compiler leaves both calls out
  std::free(block);
  return jemalloc_says<uint64_t>("thread.allocated") > before;
}
#endif

}  // namespace

std::string allocator() {
#ifdef CACHET_JEMALLOC
  const auto* version = jemalloc_says<const char*>("version");
  if (version != nullptr && jemalloc_serves()) return "jemalloc " + std::string(version);
#endif
  return "the system's";
}

}  // namespace cachet::app
