#pragma once

/// All public headers of Cachet. Link cachet::cachet (find_package(cachet)).

#include "cachet/config/view.h"
#include "cachet/io/name_map.h"
#include "cachet/io/name_source.h"
#include "cachet/io/published_names.h"
#include "cachet/io/safetensors.h"
#include "cachet/io/state_dict.h"
#include "cachet/io/weights_file.h"
#include "cachet/models/language/long_range_transformer.h"
#include "cachet/models/registry.h"
#include "cachet/models/vision/pyramid_vision_transformer.h"
#include "cachet/models/vision/swin_transformer.h"
#include "cachet/models/vision/t2t_vision_transformer.h"
#include "cachet/models/vision/vision_transformer.h"
#include "cachet/nn/attention/block_sparse_attention.h"
#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/kernel_attention.h"
#include "cachet/nn/attention/local_attention.h"
#include "cachet/nn/attention/lsh_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/attention/performer_attention.h"
#include "cachet/nn/attention/softmax_attention.h"
#include "cachet/nn/attention/spatial_reduction_attention.h"
#include "cachet/nn/attention/window_attention.h"
#include "cachet/nn/cache/fifo_cache.h"
#include "cachet/nn/cache/gated_recurrent_cache.h"
#include "cachet/nn/cloneable.h"
#include "cachet/nn/norm/batch_norm.h"
#include "cachet/nn/norm/layer_norm.h"
#include "cachet/nn/norm/no_norm.h"
#include "cachet/nn/norm/power_norm.h"
#include "cachet/nn/norm/rms_norm.h"
#include "cachet/nn/norm/unified_norm.h"
#include "cachet/nn/observer.h"
#include "cachet/nn/regularizer.h"
#include "cachet/nn/transformer_block.h"
#include "cachet/ops/attention_weights.h"
#include "cachet/ops/block_attention.h"
#include "cachet/ops/grc_update.h"
#include "cachet/ops/kernel_attention.h"
#include "cachet/ops/linear.h"
#include "cachet/ops/mix_heads.h"
#include "cachet/ops/permute_tokens.h"
#include "cachet/ops/power_norm.h"
#include "cachet/ops/resize_tokens.h"
#include "cachet/ops/scale_shift.h"
#include "cachet/ops/token_convolution.h"
#include "cachet/ops/unified_norm.h"

namespace cachet {

/// Semantic version of the library, "major.minor.patch".
const char* version();

}  // namespace cachet
