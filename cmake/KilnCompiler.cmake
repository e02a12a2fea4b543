# Compiler and linker settings shared by every target: interface library `kiln_flags`.
find_program(KILN_CCACHE ccache)
if(KILN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths do not count, so that a second clone can find what the first compiled; precompiled headers count by their bytes.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
                                  CCACHE_SLOPPINESS=pch_defines,time_macros ${KILN_CCACHE})
endif()

add_library(kiln_flags INTERFACE)
target_include_directories(kiln_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(kiln_flags INTERFACE -Wall -Wextra -Wpedantic -Wno-missing-field-initializers -fno-math-errno
                                            -ffp-contract=off)
if(KILN_WERROR)
  target_compile_options(kiln_flags INTERFACE -Werror)
endif()
if(KILN_SANITIZE)
  target_compile_options(kiln_flags INTERFACE -fsanitize=${KILN_SANITIZE} -fno-omit-frame-pointer
                                              -fno-sanitize-recover=undefined)
  target_link_options(kiln_flags INTERFACE -fsanitize=${KILN_SANITIZE})
endif()

if(KILN_FUZZ)  # coverage of the code under test, which steers the fuzzer
  target_compile_options(kiln_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(KILN_MOLD mold)
if(KILN_MOLD)
  target_link_options(kiln_flags INTERFACE -fuse-ld=mold)
endif()

find_package(Threads REQUIRED)
target_link_libraries(kiln_flags INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
