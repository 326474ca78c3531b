# SentencePiece, which subwords are made with, of its own sources: a static library whose symbols are hidden. Debian's
# shared one shares a variable's name with libc10, and LibTorch exports a protobuf of another version.
# tools/setup fetches the sources; CACHET_SENTENCEPIECE names them where they lie elsewhere.
function(cachet_sentencepiece)
  file(STRINGS ${PROJECT_SOURCE_DIR}/tools/versions line REGEX ^SENTENCEPIECE=)
  string(REPLACE SENTENCEPIECE= "" version ${line})
  set(CACHET_SENTENCEPIECE ${PROJECT_SOURCE_DIR}/.sources/sentencepiece-${version}/sentencepiece
      CACHE PATH "The sources of SentencePiece")
  set(root ${CACHET_SENTENCEPIECE})
  if(NOT EXISTS ${root}/src/sentencepiece_processor.h)
    message(FATAL_ERROR "There are no sources of SentencePiece in ${root}. Run tools/setup, name them in "
                        "CACHET_SENTENCEPIECE, or build without subwords: -DCACHET_SUBWORDS=OFF.")
  endif()
  file(GLOB sources ${root}/src/*.cc ${root}/src/builtin_pb/*.cc)
  list(FILTER sources EXCLUDE REGEX "(_test|_main|/testharness)\\.cc$")
  file(GLOB protobuf ${root}/third_party/protobuf-lite/*.cc)
  # What its own build writes; nothing that is called reads it.
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/sentencepiece/config.h
       CONTENT "#define VERSION \"${version}\"\n#define PACKAGE_STRING \"sentencepiece\"\n#define INSTALL_DATADIR \"\"\n" @ONLY)

  # Its sources compile fastest as one; those of protobuf do not bear it.
  add_library(cachet_sentencepiece STATIC ${sources} ${root}/third_party/absl/flags/flag.cc)
  add_library(cachet_protobuf STATIC ${protobuf})
  set_target_properties(cachet_sentencepiece PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  foreach(target IN ITEMS cachet_sentencepiece cachet_protobuf)
    set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_compile_definitions(${target} PRIVATE HAVE_PTHREAD=1 _USE_INTERNAL_STRING_VIEW)
    target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/sentencepiece ${root} ${root}/src
                               ${root}/src/builtin_pb ${root}/third_party ${root}/third_party/protobuf-lite)
    target_compile_options(${target} PRIVATE -w)
  endforeach()
  # Its checks throw instead of ending the process.
  target_compile_options(cachet_sentencepiece PRIVATE "SHELL:-include ${PROJECT_SOURCE_DIR}/cmake/sentencepiece-checks.h")
  # Some templates of protobuf ask to be seen all the same.
  target_link_options(cachet_sentencepiece INTERFACE
                      LINKER:--exclude-libs,libcachet_sentencepiece.a:libcachet_protobuf.a)
  target_include_directories(cachet_sentencepiece SYSTEM INTERFACE ${root}/src)
  target_link_libraries(cachet_sentencepiece PRIVATE cachet_protobuf Threads::Threads)
endfunction()

set(cachet_sentencepiece_user ${PROJECT_SOURCE_DIR}/cachet/data/text/encoders/sentencepiece.cpp)
set_source_files_properties(${cachet_sentencepiece_user} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
if(CACHET_SUBWORDS)
  cachet_sentencepiece()
  set_source_files_properties(${cachet_sentencepiece_user} PROPERTIES COMPILE_DEFINITIONS CACHET_SUBWORDS)
endif()
