// What the command asks of its allocator (app/start/jemalloc_settings.cpp).
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <thread>

namespace {

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

// Page faults of passes that write to a buffer each, as a fraction of the pages that they write to.
double share_of_new_pages(std::size_t bytes) {
  constexpr int kPasses = 20;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const long before = page_faults();
  for (int pass = 0; pass < kPasses; ++pass) {
    const std::unique_ptr<volatile char[]> buffer(new volatile char[bytes]);
    for (std::size_t place = 0; place < bytes; place += page) buffer[place] = 1;
  }
  return static_cast<double>(page_faults() - before) / (kPasses * static_cast<double>(bytes / page));
}

TEST(Allocator, BuffersStayForTheNextPass) {
  for (const std::size_t megabytes : {1, 7, 9, 20, 100})
    EXPECT_LT(share_of_new_pages(megabytes << 20), 0.15) << megabytes;
}

TEST(Allocator, BuffersOfOtherThreadsStayToo) {
  double share = 1;
  std::thread([&] { share = share_of_new_pages(std::size_t{20} << 20); }).join();
  EXPECT_LT(share, 0.15);
}

}  // namespace
