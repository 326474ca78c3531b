#pragma once

#include "cachet/nn/cache/cache_kind.h"

namespace cachet::nn {

/// The options for layers without a cache.
struct NoCacheOptions {
  static const CacheKind<NoCacheOptions> kKind;
};

}  // namespace cachet::nn
