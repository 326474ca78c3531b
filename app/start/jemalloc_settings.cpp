// Freed memory is kept for the next tensors. jemalloc reads this before main, and then MALLOC_CONF of the environment.
// The reference to mallctl makes the linker take jemalloc in, although nobody calls it by name.
#include <jemalloc/jemalloc.h>

const char* malloc_conf = "dirty_decay_ms:-1,muzzy_decay_ms:-1";

[[gnu::used]] static const auto keep_jemalloc = &mallctl;
