# Finds LibTorch: the builder's own (Torch_DIR, CMAKE_PREFIX_PATH) first, else what tools/find-torch finds.
# Targets link ${CACHET_TORCH}: names of targets and not the files of TORCH_LIBRARIES, so that an installed Cachet
# works with a LibTorch in another folder. The compiler's standard library stands before them: wheels export parts of
# the one they were built with (2.11's std::filesystem::remove_all crashes), and the first in line is the one that is used.
file(STRINGS ${PROJECT_SOURCE_DIR}/tools/versions cachet_minimum_torch REGEX ^LIBTORCH_MINIMUM=)
string(REPLACE LIBTORCH_MINIMUM= "" cachet_minimum_torch ${cachet_minimum_torch})
set(CACHET_TORCH torch torch_library c10)
if(UNIX AND NOT APPLE)
  list(PREPEND CACHET_TORCH stdc++)
endif()

# The wheel's package warns at every configure that its static kineto library is missing; nothing here needs it.
macro(cachet_find_torch_quietly)
  set(cachet_log_level ${CMAKE_MESSAGE_LOG_LEVEL})
  set(CMAKE_MESSAGE_LOG_LEVEL ERROR)
  find_package(Torch ${cachet_minimum_torch} QUIET)
  set(CMAKE_MESSAGE_LOG_LEVEL ${cachet_log_level})
endmacro()

# cachet_use_cuda_wheels(package): the CUDA compiler that pip installed next to the torch whose CMake package is in this
# folder, which the package of a CUDA build needs. A compiler or toolkit that the builder named is used instead.
macro(cachet_use_cuda_wheels package)
  get_filename_component(cachet_torch_site "${package}/../../../.." ABSOLUTE)
  file(GLOB cachet_nvcc ${cachet_torch_site}/nvidia/*/bin/nvcc)
  if(cachet_nvcc AND NOT CMAKE_CUDA_COMPILER AND NOT CUDA_TOOLKIT_ROOT_DIR AND NOT DEFINED ENV{CUDACXX})
    list(GET cachet_nvcc 0 cachet_nvcc)
    set(CMAKE_CUDA_COMPILER ${cachet_nvcc} CACHE FILEPATH "CUDA compiler next to torch")
    get_filename_component(cachet_cuda ${cachet_nvcc}/../.. ABSOLUTE)
    set(CUDA_TOOLKIT_ROOT_DIR ${cachet_cuda} CACHE PATH "CUDA toolkit next to torch")
  endif()
endmacro()

set(cachet_named_torch ${Torch_DIR})
find_path(cachet_torch_package TorchConfig.cmake HINTS ${Torch_DIR} ENV Torch_DIR ${CMAKE_PREFIX_PATH} ENV CMAKE_PREFIX_PATH
          PATH_SUFFIXES share/cmake/Torch Torch NO_DEFAULT_PATH NO_CACHE)
if(cachet_torch_package)
  cachet_use_cuda_wheels(${cachet_torch_package})
endif()
cachet_find_torch_quietly()
if(NOT Torch_FOUND AND cachet_named_torch AND EXISTS ${cachet_named_torch})
  message(FATAL_ERROR "Torch_DIR=${cachet_named_torch} holds no LibTorch >= ${cachet_minimum_torch}.")
endif()
if(NOT Torch_FOUND)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/find-torch
                  OUTPUT_VARIABLE cachet_torch_prefix OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(cachet_torch_prefix)
    list(APPEND CMAKE_PREFIX_PATH ${cachet_torch_prefix})
    cachet_use_cuda_wheels(${cachet_torch_prefix}/Torch)
    cachet_find_torch_quietly()
  endif()
endif()
if(NOT Torch_FOUND)
  message(FATAL_ERROR "No LibTorch >= ${cachet_minimum_torch} was found. Run tools/setup, or pass -DCMAKE_PREFIX_PATH=<libtorch>.")
endif()
message(STATUS "LibTorch ${Torch_VERSION}: ${Torch_DIR}")
