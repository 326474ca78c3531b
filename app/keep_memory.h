#pragma once

namespace cachet::app {

/// Has malloc keep the memory of freed tensors for the next ones. By default glibc gives large blocks back to the
/// system at once, and every operator then waits for its pages: a third of the time of a ViT-S in bfloat16. Settings
/// that the user made (MALLOC_… or GLIBC_TUNABLES in the environment, another malloc) stay. Call it before anything
/// allocates.
void keep_memory();

}  // namespace cachet::app
