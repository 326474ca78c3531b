#pragma once

namespace cachet::fuzz {

/// Which points of the instrumented code an input reaches, counted through the compiler's trace-pc calls.

/// Forgets the counts of the last input.
void start_input();

/// Whether the input since start_input() reached a position, or reached one in an order of magnitude of times, that
/// none before it did. Remembers it.
bool input_was_new();

/// How many positions all inputs together reached.
int places_reached();

}  // namespace cachet::fuzz
