// Must be reported by LeakSanitizer: memory that nothing points to at the end.
#include <cstdlib>

int main() {
  void* volatile memory = std::malloc(16);
  memory = nullptr;
  return memory != nullptr;
}
