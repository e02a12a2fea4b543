# The libraries that programs link: kiln_library(nvinfer source...) makes libnvinfer.so.10, alias Kiln::nvinfer, which
# exports what <name>.map beside it lists, is installed, and is part of find_package(Kiln).
include(GNUInstallDirs)

set(KILN_API_VERSION 10.16.0)  # TensorRT's, whose API this is: NvInferVersion.h
set(KILN_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR}/kiln)

# What is shipped runs beside an older libstdc++ and libgcc_s than those it was linked with: src/base/older_libstdcxx.cc has
# one call of the former, and the static libgcc has the conversions of half that the latter got in GCC 12.
function(kiln_for_older_systems name)
  target_link_libraries(${name} PRIVATE gcc)
  target_link_options(${name} PRIVATE -Wl,--wrap=_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE)
endfunction()

function(kiln_library name)
  add_library(${name} SHARED ${ARGN})
  add_library(Kiln::${name} ALIAS ${name})
  set(map ${CMAKE_CURRENT_SOURCE_DIR}/${name}.map)
  set_target_properties(${name} PROPERTIES VERSION ${KILN_API_VERSION} SOVERSION 10 LINK_DEPENDS ${map}
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib INSTALL_RPATH $ORIGIN)
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                             $<INSTALL_INTERFACE:${KILN_INCLUDE_DIR}>)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cudart/include)
  target_compile_options(${name} PRIVATE -DTENSORRT_BUILD_LIB -Wno-deprecated-declarations)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:kiln_flags>)
  # Never unloaded: its threads would go on without code. Its own calls stay its own: another library or the program may
  # export the same names (cudart/bound_test.py checks that).
  target_link_options(${name} PRIVATE -Wl,--version-script=${map} -Wl,-Bsymbolic -Wl,-z,nodelete -Wl,--as-needed)
  kiln_for_older_systems(${name})
  if(NOT KILN_SANITIZE)
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  install(TARGETS ${name} EXPORT KilnTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  set(description "Kiln: ${name}, with the API of TensorRT ${KILN_API_VERSION}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/kiln.pc.in ${CMAKE_BINARY_DIR}/pkgconfig/kiln-${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/pkgconfig/kiln-${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
