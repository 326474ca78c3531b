#pragma once

namespace cachet::ops {

/// Whether the autograd form of an operator runs inside a transform of torch.func (grad, vjp, jvp, vmap over them).
/// Such a transform composes derivatives, but an autograd function of C++ hides its derivative.
bool in_function_transform();

}  // namespace cachet::ops
