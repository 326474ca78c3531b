#include "cachet/train/profile/kernel_family.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>
#include <vector>

namespace cachet::train {
namespace {

/// The names that belong to a family. A table is searched from its top, and the first match counts.
struct FamilyNames {
  KernelFamily family;
  std::vector<std::string_view> names;
};

/// Names of operators without namespace, without underscores at the ends and without "foreach_". A name also matches
/// its backward operator. A name with a star at its end matches every name that begins with it.
const std::vector<FamilyNames>& operator_names() {
  static const std::vector<FamilyNames> names{
      {KernelFamily::products,
       {"addbmm",
        "addmm",
        "addmm_activation",
        "addmv",
        "addr",
        "baddbmm",
        "bmm",
        "dot",
        "einsum",
        "int_mm",
        "linear",
        "ger",
        "linear_*",
        "matmul",
        "mm",
        "mv",
        "outer",
        "scaled_mm",
        "trilinear",
        "vdot",
        "mkldnn_linear*",
        "chain_matmul",
        "weight_int8pack_mm"}},
      {KernelFamily::attention,
       {"attention_weights", "block_attention", "cudnn_attention*", "efficient_attention*", "flash_attention*",
        "kernel_attention*", "kernel_features", "masked_softmax", "native_multi_head_attention",
        "relative_attention_weights", "safe_softmax", "scaled_dot_product*", "softmax", "softmax_attention"}},
      {KernelFamily::cache, {"grc_update", "mix_heads"}},
      {KernelFamily::norm,
       {"batch_norm*", "cudnn_batch_norm", "fused_rms_norm", "group_norm", "instance_norm", "layer_norm",
        "native_batch_norm*", "native_group_norm", "native_layer_norm", "power_norm", "rms_norm", "scale_shift",
        "unified_norm", "weight_norm*"}},
      {KernelFamily::convolution,
       {"adaptive_avg_pool*",
        "adaptive_max_pool*",
        "avg_pool*",
        "col2im",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_depthwise*",
        "conv_transpose*",
        "convolution",
        "cudnn_convolution*",
        "grid_sampler*",
        "im2col",
        "max_pool*",
        "mkldnn_convolution*",
        "resize_tokens",
        "roi_align",
        "slow_conv*",
        "thnn_conv*",
        "token_convolution",
        "upsample*"}},
      {KernelFamily::random,
       {"alpha_dropout", "bernoulli",  "cauchy",     "dropout",      "exponential",    "feature_dropout",
        "fused_dropout", "geometric",  "log_normal", "masked_scale", "multinomial",    "native_dropout",
        "normal",        "poisson",    "rand",       "rand_like",    "randint",        "randint_like",
        "randn",         "randn_like", "random",     "randperm",     "standard_gamma", "uniform"}},
      {KernelFamily::optimizer,
       {"amp_foreach_non_finite_check_and_unscale", "amp_update_scale", "fused_adagrad", "fused_adam*", "fused_sgd"}},
      {KernelFamily::reductions,
       {"all",
        "amax",
        "amin",
        "aminmax",
        "any",
        "argmax",
        "argmin",
        "argsort",
        "binary_cross_entropy*",
        "bincount",
        "count_nonzero",
        "cross_entropy_loss",
        "cummax",
        "cummin",
        "cumprod",
        "cumsum",
        "histc",
        "huber_loss",
        "kl_div",
        "kthvalue",
        "l1_loss",
        "linalg_norm",
        "linalg_vector_norm",
        "log_softmax",
        "logcumsumexp",
        "logsumexp",
        "max",
        "mean",
        "median",
        "min",
        "mode",
        "mse_loss",
        "nansum",
        "nll_loss*",
        "nms",
        "norm",
        "prod",
        "searchsorted",
        "smooth_l1_loss",
        "sort",
        "std",
        "std_mean",
        "sum",
        "sum_to_size",
        "topk",
        "unique*",
        "var",
        "var_mean"}},
      {KernelFamily::copies,
       {"arange",
        "cat",
        "clone",
        "constant_pad_nd",
        "contiguous",
        "copy",
        "embedding*",
        "eye",
        "fill",
        "flip",
        "full",
        "full_like",
        "gather",
        "index",
        "index_add",
        "index_copy",
        "index_fill",
        "index_put*",
        "index_select",
        "item",
        "linspace",
        "local_scalar_dense",
        "masked_scatter",
        "masked_select",
        "new_full",
        "new_ones",
        "new_zeros",
        "nonzero",
        "one_hot",
        "ones",
        "ones_like",
        "pad",
        "permute_tokens",
        "pin_memory",
        "reflection_pad*",
        "repeat",
        "repeat_interleave",
        "replication_pad*",
        "roll",
        "scalar_tensor",
        "scatter*",
        "select_backward",
        "slice_backward",
        "stack",
        "take",
        "take_along_dim",
        "tile",
        "to",
        "to_copy",
        "tril",
        "triu",
        "unfold_backward",
        "zero",
        "zeros",
        "zeros_like"}},
      {KernelFamily::elementwise, {"abs",       "acos",        "add",        "addcdiv",    "addcmul",
                                   "angle",     "asin",        "atan",       "atan2",      "bitwise*",
                                   "ceil",      "celu",        "clamp*",     "clip",       "conj_physical",
                                   "cos",       "cosh",        "deg2rad",    "digamma",    "div",
                                   "elu",       "eq",          "erf",        "erfc",       "erfinv",
                                   "exp",       "exp2",        "expm1",      "floor",      "floor_divide",
                                   "fmod",      "frac",        "ge",         "gelu",       "glu",
                                   "gt",        "hardsigmoid", "hardswish",  "hardtanh",   "heaviside",
                                   "isfinite",  "isin",        "isinf",      "isnan",      "isneginf",
                                   "isposinf",  "le",          "leaky_relu", "lerp",       "lgamma",
                                   "log",       "log10",       "log1p",      "log2",       "log_sigmoid*",
                                   "logaddexp", "logical*",    "logit",      "lt",         "masked_fill",
                                   "maximum",   "minimum",     "mish",       "mul",        "nan_to_num",
                                   "ne",        "neg",         "pow",        "reciprocal", "relu",
                                   "relu6",     "remainder",   "round",      "rsqrt",      "rsub",
                                   "selu",      "sgn",         "sigmoid",    "sign",       "silu",
                                   "sin",       "sinc",        "sinh",       "softplus",   "softshrink",
                                   "sqrt",      "square",      "sub",        "tan",        "tanh",
                                   "threshold", "trunc",       "where",      "xlogy"}},
  };
  return names;
}

/// Parts of the names of kernels, in lower case.
const std::vector<FamilyNames>& kernel_parts() {
  static const std::vector<FamilyNames> parts{
      {KernelFamily::copies, {"memcpy", "memset"}},
      {KernelFamily::optimizer,
       {"fusedadam", "fused_adam", "fusedsgd", "fused_sgd", "fusedadagrad", "adam_kernel", "nonfinitecheckandunscale"}},
      {KernelFamily::reductions, {"log_softmax", "logsoftmax"}},
      {KernelFamily::attention, {"flash_fwd", "flash_bwd", "flash::", "fmha", "attentionkernel", "sdpa", "softmax"}},
      {KernelFamily::norm,
       {"layer_norm", "layernorm", "rowwisemoments", "gammabeta", "computegradientfusedparams", "batch_norm",
        "batchnorm", "bn_fw", "bn_bw", "group_norm", "groupnorm", "rms_norm", "rmsnorm", "computefusedparams",
        "instancenorm"}},
      {KernelFamily::convolution,
       {"winograd",   "fprop",      "dgrad",          "wgrad",          "convolve", "convolution", "conv1d",
        "conv2d",     "conv3d",     "conv_depthwise", "dwconv",         "im2col",   "col2im",      "scudnn",
        "cudnn::cnn", "nchwtonhwc", "nhwctonchw",     "nchwaddpadding", "upsample", "avg_pool",    "avgpool",
        "max_pool",   "maxpool",    "grid_sampler",   "roi_align"}},
      {KernelFamily::random,
       {"distribution_", "dropout", "philox", "curand", "bernoulli", "randperm", "random_", "multinomial"}},
      {KernelFamily::copies,
       {"catarraybatchedcopy",
        "direct_copy",
        "copy_device_to_device",
        "float16_copy",
        "float8_copy",
        "copy_kernel",
        "gpu_index_kernel",
        "index_elementwise",
        "indexselect",
        "index_put",
        "indexfunc",
        "indexing_backward",
        "gather",
        "scatter",
        "embedding",
        "fillfunctor",
        "krn_partial",
        "compute_grad_weight",
        "copyfunctor",
        "roll_cuda",
        "triu_tril",
        "arange",
        "flip",
        "reflection_pad",
        "replication_pad",
        "compute_cuda_kernel",
        "fill_reverse_indices",
        "write_indices"}},
      {KernelFamily::products,
       {"gemm", "gemv", "gemk1", "nvjet", "cutlass", "splitkreduce", "cublas", "xmma", "dot_kernel", "s884", "s1688",
        "s16816", "s161616", "wgmma"}},
      {KernelFamily::reductions,
       {"reduce_kernel", "devicereduce", "reducescan", "lpnorm", "nll_loss", "topk", "sort", "devicescan",
        "scan_kernel", "softmaxreduce", "reduce_", "reduceop", "select_if", "deviceselect", "uniquebykey",
        "searchsorted", "nms_", "triton_red", "triton_per"}},
      {KernelFamily::elementwise, {"elementwise", "multi_tensor_apply", "op_tensor_kernel", "pointwise", "triton_poi"}},
  };
  return parts;
}

bool matches(std::string_view pattern, std::string_view name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

void remove_prefix(std::string_view& name, std::string_view prefix) {
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
}

void remove_suffix(std::string_view& name, std::string_view suffix) {
  if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
}

/// "_foreach_mul_" becomes "mul".
std::string_view plain_name(std::string_view name) {
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  remove_prefix(name, "foreach_");
  return name;
}

/// "softmax_backward_data" becomes "softmax".
std::string_view forward_name(std::string_view name) {
  for (const char* suffix : {"_out", "_data", "_overrideable", "_backward"}) remove_suffix(name, suffix);
  return name;
}

}  // namespace

std::string_view to_string(KernelFamily family) {
  switch (family) {
    case KernelFamily::products:
      return "products";
    case KernelFamily::attention:
      return "attention";
    case KernelFamily::cache:
      return "cache";
    case KernelFamily::norm:
      return "norm";
    case KernelFamily::convolution:
      return "convolution";
    case KernelFamily::elementwise:
      return "element-wise";
    case KernelFamily::reductions:
      return "reductions";
    case KernelFamily::optimizer:
      return "optimizer";
    case KernelFamily::copies:
      return "copies";
    case KernelFamily::random:
      return "random numbers";
    case KernelFamily::other:
      return "other";
  }
  return "";
}

std::optional<KernelFamily> kernel_family_named(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kKernelFamilies, [&](KernelFamily family) { return to_string(family) == name; });
  return found == kKernelFamilies.end() ? std::nullopt : std::optional(*found);
}

KernelFamily family_of_operator(std::string_view name) {
  const size_t colons = name.find("::");
  const std::string_view space = name.substr(0, colons);
  if (colons == std::string_view::npos || (space != "aten" && space != "cachet")) return KernelFamily::other;
  const std::string_view plain = plain_name(name.substr(colons + 2)), forward = forward_name(plain);
  for (const FamilyNames& family : operator_names())
    for (const std::string_view pattern : family.names)
      if (matches(pattern, plain) || matches(pattern, forward)) return family.family;
  return KernelFamily::other;
}

KernelFamily family_of_cuda_kernel(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char letter) { return std::tolower(letter); });
  for (const FamilyNames& family : kernel_parts())
    for (const std::string_view part : family.names)
      if (lower.find(part) != std::string::npos) return family.family;
  return KernelFamily::other;
}

}  // namespace cachet::train
