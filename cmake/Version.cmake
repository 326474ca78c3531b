# The facts about the build that `cachet env` and the head of each log print, given to the one file that needs them.
find_package(Git QUIET)
set(CACHET_COMMIT unknown)
if(Git_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short=12 HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                  OUTPUT_VARIABLE CACHET_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  # Another commit configures again, so that the name keeps up.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)
endif()
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" flags)
set_source_files_properties(${PROJECT_SOURCE_DIR}/cachet/train/machine/environment.cpp PROPERTIES
  COMPILE_DEFINITIONS "CACHET_VERSION=\"${PROJECT_VERSION}\";CACHET_COMMIT=\"${CACHET_COMMIT}\";CACHET_COMPILER=\"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\";CACHET_BUILD_FLAGS=\"${flags}\""
  SKIP_UNITY_BUILD_INCLUSION ON)
