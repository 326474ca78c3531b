# Language level, warnings, sanitizers, compiler cache.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

find_program(CACHET_CCACHE ccache)
mark_as_advanced(CACHET_CCACHE)
if(CACHET_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What one checkout compiled serves others: ccache takes paths below the checkout as relative ones.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
                                  ${CACHET_CCACHE})
endif()
# So do the names of sources in messages; and programs do not show where they were built.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)

# cachet_compile_options(target): what every target of ours is compiled with.
# GCC 12 sees overlapping copies in the inlined operator+ of std::string that are not there (GCC bug 105651).
function(cachet_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                         $<$<BOOL:${CACHET_WARNINGS_AS_ERRORS}>:-Werror>)
  if(CACHET_COVERAGE)
    target_compile_options(${target} PRIVATE --coverage -fno-inline)
    target_link_options(${target} PRIVATE --coverage)
  endif()
  if(CACHET_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${CACHET_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${CACHET_SANITIZE})
  endif()
endfunction()
