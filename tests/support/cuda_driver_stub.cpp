// A library with the name of NVIDIA's driver library, libcuda.so.1, for tests on machines without a GPU. It answers the
// questions of `cachet env`. The environment variables CACHET_TEST_DRIVER_CUDA (such as 13000) and CACHET_TEST_GPU
// (the name of the only GPU, whose compute capability is CACHET_TEST_CAPABILITY, such as 90) are the answers.
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace {

int number(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::atoi(text);
}

}  // namespace

extern "C" {

int cuInit(unsigned /*flags*/) { return 0; }

int cuDriverGetVersion(int* version) {
  *version = number("CACHET_TEST_DRIVER_CUDA");
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = std::getenv("CACHET_TEST_GPU") == nullptr ? 0 : 1;
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}

int cuDeviceGetName(char* name, int length, int /*device*/) {
  std::strncpy(name, std::getenv("CACHET_TEST_GPU"), static_cast<size_t>(length));
  return 0;
}

int cuDeviceTotalMem_v2(size_t* bytes, int /*device*/) {
  *bytes = size_t{80} << 30;
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int /*device*/) {
  constexpr int kMajor = 75;
  const int capability = number("CACHET_TEST_CAPABILITY");
  *value = attribute == kMajor ? capability / 10 : capability % 10;
  return 0;
}

}  // extern "C"
