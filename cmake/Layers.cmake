# A layer is a folder of cachet/: a static library cachet_<name> made of all its sources.
#   cachet_layer(name [PLAIN | SHARED] [USES layer...] [LIBRARIES target...])
# PLAIN layers do not see LibTorch. SHARED ones can be loaded alone (torch.ops.load_library).
function(cachet_layer name)
  cmake_parse_arguments(arg "PLAIN;SHARED" "" "USES;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cachet/${name}/*.cpp)
  if(NOT sources)  # a layer that nobody has moved into yet
    set(sources ${PROJECT_BINARY_DIR}/empty.cpp)
    file(TOUCH ${sources})
  endif()
  set(target cachet_${name})
  if(arg_SHARED)
    add_library(${target} SHARED ${sources})
  else()
    add_library(${target} STATIC ${sources})
  endif()
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  list(TRANSFORM arg_USES PREPEND cachet_)
  target_link_libraries(${target} PUBLIC ${arg_USES} PRIVATE ${arg_LIBRARIES} Threads::Threads)
  if(NOT arg_PLAIN)
    target_link_libraries(${target} PUBLIC ${CACHET_TORCH})
    # Operators use per-operator headers, which compile fastest one by one; everything else goes in batches.
    if(CACHET_UNITY_BATCH GREATER 0 AND NOT arg_SHARED)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${CACHET_UNITY_BATCH})
    endif()
  endif()
  cachet_compile_options(${target})
endfunction()

# cachet_library(name layer...): the shared library that users link, made of whole layers. Nothing of it asks a user
# for the libraries that its layers use inside.
function(cachet_library name)
  list(TRANSFORM ARGN PREPEND cachet_ OUTPUT_VARIABLE layers)
  add_library(${name} SHARED ${PROJECT_SOURCE_DIR}/cachet/cachet.cpp)
  list(JOIN layers "," whole)
  target_link_libraries(${name} PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${whole}>" PUBLIC cachet_ops ${CACHET_TORCH})
  # The layers name one another without that feature; here each is taken whole.
  set_target_properties(${name} PROPERTIES LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,${whole}")
  # What is missing shows here and not in the programs of others. Sanitizers' symbols come from the program.
  if(NOT CACHET_SANITIZE)
    target_link_options(${name} PRIVATE LINKER:-z,defs)
  endif()
  target_compile_definitions(${name} PRIVATE CACHET_VERSION="${PROJECT_VERSION}")
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  cachet_compile_options(${name})
  add_library(${name}::${name} ALIAS ${name})
endfunction()
