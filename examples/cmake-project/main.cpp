// Says which Cachet this program runs with.
#include <cachet/cachet.h>

#include <iostream>

int main() { std::cout << "Cachet " << cachet::version() << '\n'; }
