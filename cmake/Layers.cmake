# A layer is a folder of cachet/: a static library cachet_<name> made of all its sources.
#   cachet_layer(name [PLAIN | SHARED] [USES layer...] [HEADERS_OF layer...] [LIBRARIES target...])
# HEADERS_OF names layers above or beside whose headers without LibTorch it may include: whoever links it brings their
# objects. PLAIN layers do not see LibTorch. SHARED ones can be loaded alone (torch.ops.load_library). What lies in a folder
# named openvino is compiled where OpenVINO is.
function(cachet_layer name)
  cmake_parse_arguments(arg "PLAIN;SHARED" "" "USES;HEADERS_OF;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cachet/${name}/*.cpp)
  if(NOT CACHET_OPENVINO_RUNTIME)
    list(FILTER sources EXCLUDE REGEX "/openvino/")
  endif()
  if(NOT sources)  # a layer that nobody has moved into yet
    set(sources ${PROJECT_BINARY_DIR}/empty.cpp)
    if(NOT EXISTS ${sources})
      file(TOUCH ${sources})
    endif()
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
  if(arg_SHARED)
    # at::parallel_for is serial without the flag; the run time of OpenMP is LibTorch's, not a second one.
    target_compile_options(${target} PRIVATE ${OpenMP_CXX_FLAGS})
    cachet_take_in(${target} ${arg_USES})
    set(arg_USES "")
  endif()
  target_link_libraries(${target} PUBLIC ${arg_USES} PRIVATE ${arg_LIBRARIES} Threads::Threads)
  set_target_properties(${target} PROPERTIES CACHET_LIBRARIES "${arg_LIBRARIES}" CACHET_PLAIN "${arg_PLAIN}")
  if(NOT arg_PLAIN)
    target_link_libraries(${target} PUBLIC ${CACHET_TORCH})
    # Operators use per-operator headers, which compile fastest one by one; everything else goes in batches.
    if(CACHET_UNITY_BATCH GREATER 0 AND NOT arg_SHARED)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${CACHET_UNITY_BATCH})
    endif()
  endif()
  if("${CACHET_OPENVINO_RUNTIME}" IN_LIST arg_LIBRARIES)
    target_compile_definitions(${target} PRIVATE CACHET_HAS_OPENVINO)
  endif()
  cachet_compile_options(${target})
endfunction()

# cachet_take_in(target layer_target...): makes whole layers part of a shared library. Their objects, not their archives:
# of those the linker would take only what is asked for.
function(cachet_take_in target)
  foreach(layer IN LISTS ARGN)
    get_target_property(libraries ${layer} CACHET_LIBRARIES)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${layer}>)
    target_link_libraries(${target} PRIVATE ${libraries})
  endforeach()
endfunction()

# cachet_library(name layer...): the shared library that users link, made of whole layers. Nothing of it asks a user
# for the libraries that its layers use inside.
function(cachet_library name)
  add_library(${name} SHARED ${PROJECT_SOURCE_DIR}/cachet/cachet.cpp)
  target_link_libraries(${name} PUBLIC cachet_ops ${CACHET_TORCH} PRIVATE Threads::Threads)
  list(TRANSFORM ARGN PREPEND cachet_ OUTPUT_VARIABLE layers)
  cachet_take_in(${name} ${layers})
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
