// Downloads what its argument names as `cachet import` does, for hub_test.py: prints the path, and notes on standard
// error. It starts without LibTorch, so that a test can run many of them.
#include <cstdint>
#include <iostream>

#include "cachet/hub/fetch.h"

int main(int count, char** words) {
  namespace hub = cachet::hub;
  if (count != 2) return 2;
  try {
    uint64_t total = 0;
    hub::DownloadOptions options;
    options.first_wait = std::chrono::milliseconds(20);
    options.note = [](const std::string& line) { std::cerr << "note: " << line << '\n'; };
    options.progress = [&total](const hub::DownloadProgress& progress) {
      if (progress.done == progress.total) total += progress.total;
    };
    const hub::FetchedWeights fetched = hub::fetch_weights(words[1], hub::hub_settings(), options);
    std::cout << fetched.file.string() << '\n' << fetched.origin << '\n' << total << '\n';
    return 0;
  } catch (const cachet::io::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
