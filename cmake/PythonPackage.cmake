# The Python package `cachet`. In a build folder it is <build>/python/cachet: links to the sources in python/cachet, and
# to the libraries and the command of the build. In a wheel (SKBUILD: pyproject.toml) scikit-build-core copies the sources,
# and the installed form of the library lies in the package.
# _build.py has the facts of the package's build.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/python/cachet/_build.py CONTENT [[
"""What this package was built as. Written by cmake/PythonPackage.cmake."""
VERSION = "@PROJECT_VERSION@"
TORCH_VERSION = "@Torch_VERSION@"
OPERATORS = "libcachet_ops.so.@PROJECT_VERSION_MAJOR@.@PROJECT_VERSION_MINOR@"
]] @ONLY)

if(SKBUILD)
  install(FILES ${PROJECT_BINARY_DIR}/python/cachet/_build.py DESTINATION .)
  # The licences of the libraries that the wheel carries, as the Debian packages of their headers have them.
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/setup --list OUTPUT_VARIABLE packages OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" packages "${packages}")
  foreach(package IN LISTS packages)
    if(EXISTS /usr/share/doc/${package}/copyright)
      install(FILES /usr/share/doc/${package}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences RENAME ${package})
    endif()
  endforeach()
  if(CACHET_SUBWORDS)
    install(FILES ${CACHET_SENTENCEPIECE}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences RENAME sentencepiece)
  endif()
  return()
endif()

file(GLOB cachet_python_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/cachet ${PROJECT_SOURCE_DIR}/python/cachet/*)
list(REMOVE_ITEM cachet_python_sources __pycache__)
foreach(source IN LISTS cachet_python_sources)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/cachet/${source} ${PROJECT_BINARY_DIR}/python/cachet/${source} SYMBOLIC)
endforeach()
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/_cachet_command.py ${PROJECT_BINARY_DIR}/python/_cachet_command.py SYMBOLIC)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/python/cachet/bin)
file(CREATE_LINK ${PROJECT_BINARY_DIR}/cachet ${PROJECT_BINARY_DIR}/python/cachet/bin/cachet SYMBOLIC)
file(CREATE_LINK ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${PROJECT_BINARY_DIR}/python/cachet/lib SYMBOLIC)
