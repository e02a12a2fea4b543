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

# The page of `kiln show` in a program: kiln_embed_page(target) adds a source that holds the files of tools/kiln/page and
# the library that lays its graphs out. That is dagre as Netron's package has it (MIT; docs/adr/0030): of the Python
# packages in .venv, or of the file that KILN_DAGRE names. Without it the page has plain layers.
set(KILN_EMBED_PAGE_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_page.cmake)
set(KILN_DAGRE "" CACHE FILEPATH "dagre.js of the Python package netron; empty: looked for in .venv and beside Python")

function(kiln_find_dagre result)
  set(found ${KILN_DAGRE})
  if(NOT found)
    file(GLOB places ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/netron/dagre.js)
    if(NOT places AND Python_EXECUTABLE)
      execute_process(COMMAND ${Python_EXECUTABLE} -c "import netron; print(netron.__path__[0] + '/dagre.js')"
                      OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE places ERROR_QUIET)
    endif()
    if(places)
      list(GET places 0 found)
    endif()
  endif()
  if(found AND NOT EXISTS ${found})
    message(FATAL_ERROR "${found}, the layout library of kiln show, is not there")
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

function(kiln_embed_page target)
  set(folder ${PROJECT_SOURCE_DIR}/tools/kiln/page)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.html ${folder}/*.css ${folder}/*.js)
  kiln_find_dagre(dagre)
  if(NOT dagre)
    message(STATUS "kiln show will draw graphs in plain layers: the Python package netron is not in .venv (./dev venv)")
  endif()
  set(output ${CMAKE_BINARY_DIR}/embedded_page.cc)
  if(NOT TARGET kiln_embedded_page)
    add_custom_command(OUTPUT ${output}
                       COMMAND ${CMAKE_COMMAND} -D "FILES=${files}" -D "DAGRE=${dagre}" -D OUTPUT=${output}
                               -P ${KILN_EMBED_PAGE_SCRIPT}
                       DEPENDS ${files} ${dagre} ${KILN_EMBED_PAGE_SCRIPT} COMMENT "Embedding the page" VERBATIM)
    add_custom_target(kiln_embedded_page DEPENDS ${output})
  endif()
  add_dependencies(${target} kiln_embedded_page)
  target_sources(${target} PRIVATE ${output})
  set_source_files_properties(${output} PROPERTIES GENERATED TRUE SKIP_PRECOMPILE_HEADERS ON)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tools)
endfunction()
