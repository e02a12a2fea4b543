# Installs BUILD into WORK, builds the consumer against that alone, and runs it.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(result)
    message(FATAL_ERROR "failed (${result}): ${ARGN}")
  endif()
endfunction()

set(prefix ${WORK}/prefix)
set(consumer ${SOURCE}/conformance/install/consumer)
file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${consumer} -B ${WORK}/build -G Ninja -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DSAMPLES=${SOURCE}/samples -DCUDART_HEADERS=${SOURCE}/cudart/include)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/answers)

if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs kiln-nvinfer kiln-nvonnxparser kiln-nvinfer_plugin
                  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags)
  run(${COMPILER} -std=c++14 ${consumer}/answers.cc -I${SOURCE}/cudart/include ${flags}
      -Wl,-rpath,${prefix}/${LIBDIR} -o ${WORK}/answers_by_pkg_config)
  run(${WORK}/answers_by_pkg_config)
endif()
