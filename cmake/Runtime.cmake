# libcachet_runtime.so: what a program needs that runs an exported model, and no LibTorch. It is the layer `runtime` and
# what it calls of io, which sees no LibTorch.
if(NOT CACHET_OPENVINO_RUNTIME)
  return()
endif()
add_library(cachet_runtime_shared SHARED)
cachet_take_in(cachet_runtime_shared cachet_runtime)
target_link_libraries(cachet_runtime_shared PRIVATE cachet_io)  # an archive: only what is called comes in
target_link_options(cachet_runtime_shared PRIVATE LINKER:--as-needed)
target_include_directories(cachet_runtime_shared PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
target_compile_features(cachet_runtime_shared PUBLIC cxx_std_20)
if(NOT CACHET_SANITIZE)
  target_link_options(cachet_runtime_shared PRIVATE LINKER:-z,defs)
endif()
set_target_properties(cachet_runtime_shared PROPERTIES OUTPUT_NAME cachet_runtime EXPORT_NAME runtime)
cachet_compile_options(cachet_runtime_shared)
