#include "cachet/nn/cache/no_cache.h"

namespace cachet::nn {

constinit const CacheKind<NoCacheOptions> NoCacheOptions::kKind{
    .name = "none", .read = [](const config::View&, Sessions) { return NoCacheOptions{}; }, .exports = Export::traced};

}  // namespace cachet::nn
