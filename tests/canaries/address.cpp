// Must be stopped by AddressSanitizer: reads one past the end of an array on the heap.
#include <memory>

int main(int argc, char**) {
  const auto values = std::make_unique<int[]>(4);
  const volatile int past_the_end = values[3 + argc];
  return past_the_end;
}
