# Finds LibTorch: the builder's own (Torch_DIR, CMAKE_PREFIX_PATH) first, else the active Python's, else the one that
# tools/setup puts into .venv.
set(cachet_minimum_torch 2.11)

function(cachet_find_python_torch result)
  foreach(python IN ITEMS $ENV{VIRTUAL_ENV}/bin/python python3 ${PROJECT_SOURCE_DIR}/.venv/bin/python)
    execute_process(COMMAND ${python} -c "import torch; print(torch.utils.cmake_prefix_path)"
                    OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
    if(status EQUAL 0)
      set(${result} ${prefix} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# The wheel's package warns at every configure that its static kineto library is missing; nothing here needs it.
set(cachet_log_level ${CMAKE_MESSAGE_LOG_LEVEL})
set(CMAKE_MESSAGE_LOG_LEVEL ERROR)
find_package(Torch QUIET)
if(NOT Torch_FOUND)
  cachet_find_python_torch(cachet_torch_prefix)
  if(cachet_torch_prefix)
    list(APPEND CMAKE_PREFIX_PATH ${cachet_torch_prefix})
    find_package(Torch QUIET)
  endif()
endif()
set(CMAKE_MESSAGE_LOG_LEVEL ${cachet_log_level})
if(NOT Torch_FOUND)
  message(FATAL_ERROR "LibTorch was not found. Run tools/setup, or pass -DCMAKE_PREFIX_PATH=<libtorch>.")
endif()
if(Torch_VERSION VERSION_LESS cachet_minimum_torch)
  message(FATAL_ERROR "LibTorch ${Torch_VERSION} in ${Torch_DIR} is older than ${cachet_minimum_torch}.")
endif()
message(STATUS "LibTorch ${Torch_VERSION}: ${Torch_DIR}")
