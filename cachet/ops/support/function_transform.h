#pragma once

namespace cachet::ops {

/// Whether the autograd form of an operator runs inside a transform of torch.func (grad, vjp or jvp, also under vmap).
/// Such a transform composes derivatives, but C++ autograd functions hide their derivatives.
bool in_function_transform();

}  // namespace cachet::ops
