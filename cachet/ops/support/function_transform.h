#pragma once

namespace cachet::ops {

/// Whether the autograd form of an operator runs inside a transform of torch.func (grad, vjp or jvp, also under vmap).
/// A transform of torch.func composes derivatives, but C++ autograd functions hide their derivatives from it.
bool in_function_transform();

}  // namespace cachet::ops
