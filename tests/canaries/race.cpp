// Must be reported by ThreadSanitizer: two threads write one variable.
#include <thread>

int main() {
  volatile int value = 0;
  std::thread other([&] { value = 1; });
  value = 2;
  other.join();
  return value == 0;
}
