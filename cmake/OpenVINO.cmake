# OpenVINO, an engine for exported models: taken from OpenVINO_DIR, from the Python that has this LibTorch, or from
# .venv, where tools/setup --openvino puts it. CACHET_OPENVINO=ON asks for it, OFF leaves it alone. Only the modules need it
# (cachet_openvino_module), which are loaded at the first use.
set(CACHET_OPENVINO AUTO CACHE STRING "Export to OpenVINO and run exported models with it: AUTO, ON or OFF")
set(CACHET_OPENVINO_RUNTIME "")
set(CACHET_OPENVINO_READER "")
if(CACHET_OPENVINO)
  cmake_path(SET beside_torch NORMALIZE "${Torch_DIR}/../../../../openvino/cmake")
  file(GLOB in_venv ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/openvino/cmake)
  find_package(OpenVINO QUIET COMPONENTS Runtime PyTorch HINTS ${beside_torch} ${in_venv})
  if(OpenVINO_FOUND)
    set(CACHET_OPENVINO_RUNTIME openvino::runtime)
    set(CACHET_OPENVINO_READER openvino::frontend::pytorch)
    message(STATUS "OpenVINO ${OpenVINO_VERSION}: ${OpenVINO_DIR}")
  elseif(NOT CACHET_OPENVINO STREQUAL AUTO)
    message(FATAL_ERROR "No OpenVINO was found. Run tools/setup --openvino, or pass -DOpenVINO_DIR=<its cmake folder>.")
  else()
    message(STATUS "No OpenVINO: exported models run on LibTorch alone (tools/setup --openvino brings it)")
    if(SKBUILD)
      message(NOTICE "cachet-torch is built without OpenVINO, so its command writes and runs exports for LibTorch alone")
    endif()
  endif()
endif()

# What to do if OpenVINO cannot be loaded, and if it was not built in.
if(SKBUILD)
  file(STRINGS ${PROJECT_SOURCE_DIR}/tools/versions cachet_openvino_version REGEX ^OPENVINO=)
  string(REPLACE OPENVINO= "" cachet_openvino_version ${cachet_openvino_version})
  set(cachet_openvino_absent "run: pip install 'openvino==${cachet_openvino_version}', then build cachet-torch again (pip install --no-build-isolation)")
  set(cachet_openvino_remedy "run: pip install 'openvino==${OpenVINO_VERSION}'")
else()
  set(cachet_openvino_absent "run tools/setup --openvino, then build again")
  set(cachet_openvino_remedy "run tools/setup --openvino")
endif()
set_source_files_properties(${PROJECT_SOURCE_DIR}/cachet/runtime/openvino_module.cpp PROPERTIES
  COMPILE_DEFINITIONS "CACHET_HAS_OPENVINO=$<BOOL:${CACHET_OPENVINO_RUNTIME}>;CACHET_VERSION=\"${PROJECT_VERSION}\";CACHET_MODULE_SUFFIX=\".so.${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}\";CACHET_OPENVINO_REMEDY=\"${cachet_openvino_remedy}\";CACHET_OPENVINO_ABSENT_REMEDY=\"${cachet_openvino_absent}\""
  SKIP_UNITY_BUILD_INCLUSION ON)
