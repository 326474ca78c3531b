#include "app/machine/allocator.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace cachet::app {
namespace {

using Mallctl = int (*)(const char* name, void* old_value, size_t* old_size, void* new_value, size_t new_size);

/// jemalloc's own report, asked for by name: this code serves programs without it too.
template <class Value>
Value jemalloc_says(Mallctl mallctl, const char* name) {
  Value value{};
  size_t size = sizeof(value);
  return mallctl(name, &value, &size, nullptr, 0) == 0 ? value : Value{};
}

/// Whether malloc is jemalloc's: a program may be started with another in front of it.
bool jemalloc_serves(Mallctl mallctl) {
  const auto before = jemalloc_says<uint64_t>(mallctl, "thread.allocated");
  void* volatile block = std::malloc(1);  // volatile: or the compiler leaves both calls out
  std::free(block);
  return jemalloc_says<uint64_t>(mallctl, "thread.allocated") > before;
}

}  // namespace

std::string allocator() {
  const auto mallctl = reinterpret_cast<Mallctl>(dlsym(RTLD_DEFAULT, "mallctl"));
  if (mallctl == nullptr) return "the system's";
  const auto* version = jemalloc_says<const char*>(mallctl, "version");
  return version != nullptr && jemalloc_serves(mallctl) ? "jemalloc " + std::string(version) : "the system's";
}

}  // namespace cachet::app
