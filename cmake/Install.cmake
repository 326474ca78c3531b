# The installed form: lib/libcachet*.so, include/cachet, bin/cachet, share/cachet/recipes and the package that
# find_package(cachet) reads. It can be moved; LibTorch stays where it was at build time unless the user names another.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(cachet_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cachet)

set(cachet_shared_libraries cachet cachet_ops cachet_command_line)
# In a wheel, the prefix is the folder of the package, and torch is the folder next to it.
if(SKBUILD)
  set(cachet_torch_libraries "$ORIGIN/../../torch/lib")
  set(cachet_torch_package [[${PACKAGE_PREFIX_DIR}/../torch/share/cmake/Torch]])
  set(cachet_openvino_libraries "$ORIGIN/../../openvino/libs")
else()
  set(cachet_torch_libraries "$<TARGET_FILE_DIR:torch>")
  set(cachet_torch_package ${Torch_DIR})
  set(cachet_openvino_libraries "$<TARGET_FILE_DIR:openvino::runtime>")
endif()
set(cachet_rpath "$ORIGIN;${cachet_torch_libraries}")
# The modules that are loaded at the first use. No other library knows where OpenVINO is.
set(cachet_modules "")
if(CACHET_OPENVINO_RUNTIME)
  list(APPEND cachet_shared_libraries cachet_runtime_shared)
  set(cachet_modules cachet_runtime_openvino cachet_deploy_openvino)
endif()
set_target_properties(cachet_ops PROPERTIES EXPORT_NAME ops)
set_target_properties(cachet_command_line PROPERTIES EXPORT_NAME command_line)
# A wheel holds no links, so that each library has one name there.
set(cachet_library_version ${PROJECT_VERSION})
if(SKBUILD)
  set(cachet_library_version ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()
set_target_properties(${cachet_shared_libraries} ${cachet_modules} PROPERTIES
  VERSION ${cachet_library_version} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "${cachet_rpath}")
if(cachet_modules)
  set_target_properties(cachet_runtime_openvino PROPERTIES INSTALL_RPATH "$ORIGIN;${cachet_openvino_libraries}")
  set_target_properties(cachet_deploy_openvino PROPERTIES INSTALL_RPATH "${cachet_rpath};${cachet_openvino_libraries}")
endif()
file(RELATIVE_PATH cachet_bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(cachet_command PROPERTIES INSTALL_RPATH "$ORIGIN/${cachet_bin_to_lib};${cachet_torch_libraries}")

if(SKBUILD)
  set(cachet_without_links LIBRARY NAMELINK_SKIP)
endif()
# All that `cmake --install` copies of what is built: `cmake --build build/release --target installed` builds it.
add_custom_target(installed DEPENDS cachet cachet_ops cachet_command_line cachet_command)
install(TARGETS cachet cachet_ops cachet_command_line EXPORT cachetTargets ${cachet_without_links})
# A package of its own, which asks for no LibTorch.
if(CACHET_OPENVINO_RUNTIME)
  add_dependencies(installed cachet_runtime_shared ${cachet_modules})
  install(TARGETS cachet_runtime_shared EXPORT cachet_runtimeTargets ${cachet_without_links})
  install(TARGETS ${cachet_modules} LIBRARY NAMELINK_SKIP)
  install(EXPORT cachet_runtimeTargets FILE cachet_runtimeConfig.cmake NAMESPACE cachet::
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cachet_runtime)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/cachet_runtimeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/cachet_runtimeConfigVersion.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cachet_runtime)
endif()
install(TARGETS cachet_command)
install(EXPORT cachetTargets NAMESPACE cachet:: DESTINATION ${cachet_package_dir})
# Without what only our own sources include: kernels, what of operators is made of them, and what takes other packages'
# headers. tools/check-installed-headers holds the rest to that.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/cachet TYPE INCLUDE FILES_MATCHING PATTERN *.h
        PATTERN kernels EXCLUDE PATTERN openvino EXCLUDE
        REGEX "/([a-z_]+_cpu|fused|block_features|compositions|head_rows|kernel_attention_blocks|registration|roi_axes)\\.h$" EXCLUDE
        REGEX "/(embedded_json|gloo_backend|libarchive|openvino_module|result_values)\\.h$" EXCLUDE)
# Headers that moved are installed at their old paths too, as one line that includes the new one, until version 0.2.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/moved-headers cachet_moved_headers REGEX "^cachet/")
foreach(moved IN LISTS cachet_moved_headers)
  separate_arguments(moved)
  list(GET moved 0 old)
  list(GET moved 1 new)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/moved-headers/${old}
       CONTENT "#pragma once\n// Deprecated: include \"${new}\".\n#include \"${new}\"\n")
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/moved-headers/cachet TYPE INCLUDE)
# The demo's images too: it runs wherever the command is installed.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/recipes ${PROJECT_SOURCE_DIR}/data DESTINATION ${CMAKE_INSTALL_DATADIR}/cachet)
# `cachet keys` reads it.
install(FILES ${PROJECT_SOURCE_DIR}/docs/reference/keys.json DESTINATION ${CMAKE_INSTALL_DATADIR}/cachet/docs/reference)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE TYPE DOC)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/cachetConfig.cmake.in ${PROJECT_BINARY_DIR}/cachetConfig.cmake
                              INSTALL_DESTINATION ${cachet_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cachetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cachetConfig.cmake ${PROJECT_BINARY_DIR}/cachetConfigVersion.cmake
        DESTINATION ${cachet_package_dir})
