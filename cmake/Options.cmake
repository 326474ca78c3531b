# What a builder may choose, and the defaults that the presets share.
option(CACHET_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(CACHET_BUILD_BENCHMARKS "Build the programs that measure operators" OFF)
option(CACHET_BUILD_FUZZERS "Build the fuzz programs; sanitizers belong with them" OFF)
option(CACHET_WARNINGS_AS_ERRORS "Stop at the first compiler warning (CI does)" OFF)
option(CACHET_SUBWORDS "Subwords as tokens of text, by SentencePiece" ON)
option(CACHET_COVERAGE "Count the lines that run (tools/coverage)" OFF)
set(CACHET_SANITIZE "" CACHE STRING "Sanitizers, as the compiler spells them, e.g. address,undefined")
set(CACHET_UNITY_BATCH 16 CACHE STRING "Number of sources that are compiled as one; 0 compiles each alone")
set(CACHET_COMPILE_ALONE "" CACHE STRING "Regular expression: sources whose path matches are in no unit, so that the others' units stay")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
