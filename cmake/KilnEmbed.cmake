# Kernel text in the library: kiln_embed_kernels(target) adds a source that holds every CUDA kernel and what kernels
# include, for embedded_source(). CMake alone writes it, again when a file changes, comes or goes.
set(KILN_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_kernels.cmake)

function(kiln_embed_kernels target)
  set(source ${PROJECT_SOURCE_DIR}/src)
  set(kernels ${source}/backend/cuda/kernels)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${kernels}/*.cu ${kernels}/*.cuh ${kernels}/arguments.h ${kernels}/include/*)
  file(GLOB ops CONFIGURE_DEPENDS ${source}/ops/*-inl.h ${source}/ops/scalar.h ${source}/ops/random_state.h
       ${source}/ops/gate_function.h)
  list(APPEND files ${ops})
  list(SORT files)
  set(list ${CMAKE_BINARY_DIR}/embedded_kernels.txt)
  string(REPLACE ";" "\n" lines "${files}")
  file(CONFIGURE OUTPUT ${list} CONTENT "${lines}\n" @ONLY)  # written only if it differs: a file that went counts
  set(output ${CMAKE_BINARY_DIR}/embedded_kernels.cc)
  add_custom_command(OUTPUT ${output}
                     COMMAND ${CMAKE_COMMAND} -D LIST=${list} -D SOURCE=${source} -D OUTPUT=${output} -P ${KILN_EMBED_SCRIPT}
                     DEPENDS ${files} ${list} ${KILN_EMBED_SCRIPT} COMMENT "Embedding kernels" VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
