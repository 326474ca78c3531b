// Freed memory is kept for the next tensors, and goes back to the system once it was of no use for half a minute: what
// is kept for good is never joined to larger pieces, and where sizes change from step to step a process of 0.2 GB had
// come to hold 12 GB. jemalloc reads this before main, and then MALLOC_CONF of the environment. The reference to
// mallctl makes the linker take jemalloc in, although nobody calls it by name.
#include <jemalloc/jemalloc.h>

const char* malloc_conf = "dirty_decay_ms:30000,muzzy_decay_ms:0";

[[gnu::used]] static const auto keep_jemalloc = &mallctl;
