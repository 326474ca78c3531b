#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace cachet::train {

/// The kinds of work in a training step.
enum class KernelFamily {
  products,     // matrix products, also fused with a bias or an activation
  attention,    // fused attention, attention weights, softmax
  cache,        // updates of caches, mixing of the two attentions of a cached layer
  norm,         // layer norm, batch norm and other norms
  convolution,  // convolution, pooling, resizing
  elementwise,  // arithmetic on single elements, activations
  reductions,   // sums, means, norms of gradients, losses, sorting
  optimizer,    // fused updates of the weights
  copies,       // copies, casts, concatenation, indexing, embeddings, constants
  random,       // random numbers, dropout
  other,        // work of no other family; for operators also views, allocation and the autograd engine
};

inline constexpr std::array kKernelFamilies{
    KernelFamily::products,    KernelFamily::attention,   KernelFamily::cache,      KernelFamily::norm,
    KernelFamily::convolution, KernelFamily::elementwise, KernelFamily::reductions, KernelFamily::optimizer,
    KernelFamily::copies,      KernelFamily::random,      KernelFamily::other};

/// Returns the family's name: "products", "element-wise", …
std::string_view to_string(KernelFamily family);

/// Returns the family with this name, or std::nullopt.
std::optional<KernelFamily> kernel_family_named(std::string_view name);

/// Returns the family of an operator by its name: "aten::addmm", "cachet::grc_update_backward".
KernelFamily family_of_operator(std::string_view name);

/// Returns the family of a kernel or a copy on a CUDA device by its name:
/// "void at::native::reduce_kernel<512, 1, …>(…)", "Memcpy HtoD (Pinned -> Device)".
KernelFamily family_of_cuda_kernel(std::string_view name);

}  // namespace cachet::train
