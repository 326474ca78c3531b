// What the command asks of its allocator. Memory that is freed stays for the next allocation: a pass asks for the same
// buffers of megabytes again and again, and zeroed pages would cost it a third of its time. After half a minute without
// use it goes back to the system: if it is never returned, freed pieces are never joined, and on a busy machine a run
// of 200 MB was seen to come to hold 12 GB. The same holds for pieces of 8 MB and more, which jemalloc would return at
// once. jemalloc reads this before main, and then MALLOC_CONF of the environment. The reference to mallctl makes the
// linker take jemalloc in.
#include <jemalloc/jemalloc.h>

#include <cstddef>

const char* malloc_conf = "dirty_decay_ms:30000,muzzy_decay_ms:0,oversize_threshold:1099511627776";

namespace {

// The arena of the first thread is made before the text above is read (jemalloc 5.3), and has to be set here.
[[gnu::constructor]] void keep_large_pieces() {
  std::size_t threshold = std::size_t{1} << 40;
  mallctl("arena.0.oversize_threshold", nullptr, nullptr, &threshold, sizeof threshold);
}

}  // namespace
