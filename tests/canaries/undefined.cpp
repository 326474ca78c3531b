// Must be stopped by UndefinedBehaviorSanitizer: a signed sum beyond the largest int.
#include <limits>

int main(int argc, char**) {
  const volatile int sum = std::numeric_limits<int>::max() + argc;
  return sum == 0;
}
