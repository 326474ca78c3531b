# Third-party parts in addition to LibTorch; tools/setup installs all of them.

# cachet_find(name header): a library that brings no CMake package, as the target name::name.
function(cachet_find name header)
  string(TOUPPER ${name} prefix)
  find_path(${prefix}_INCLUDE_DIR ${header} REQUIRED)
  find_library(${prefix}_LIBRARY ${name} REQUIRED)
  add_library(${name}::${name} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(${name}::${name} PROPERTIES
    IMPORTED_LOCATION "${${prefix}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${${prefix}_INCLUDE_DIR}")
endfunction()

cachet_find(jemalloc jemalloc/jemalloc.h)
cachet_find(utf8proc utf8proc.h)
find_path(BOOST_MATH_INCLUDE_DIR boost/math/distributions/non_central_t.hpp REQUIRED)  # headers alone
add_library(boost_math INTERFACE)
target_include_directories(boost_math SYSTEM INTERFACE "$<BUILD_INTERFACE:${BOOST_MATH_INCLUDE_DIR}>")
# Headers alone: the first shard that is read loads the library (cachet/io/archives/libarchive.h). Linked, it would bring
# libxml2 and ICU into the wheel.
find_path(LIBARCHIVE_INCLUDE_DIR archive.h REQUIRED)
add_library(libarchive_headers INTERFACE)
target_include_directories(libarchive_headers SYSTEM INTERFACE "$<BUILD_INTERFACE:${LIBARCHIVE_INCLUDE_DIR}>")
find_package(JPEG REQUIRED)  # libjpeg-turbo: parts of images need its cropping decoder
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(tomlplusplus 3.3 REQUIRED)
find_package(hwy 1.0.3 REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Threads REQUIRED)
if(CACHET_BUILD_TESTS)
  find_package(GTest 1.12 REQUIRED)
endif()
if(CACHET_BUILD_BENCHMARKS)
  find_package(benchmark 1.7 REQUIRED)
endif()
