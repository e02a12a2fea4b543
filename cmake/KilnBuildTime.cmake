# What makes a build from nothing short (docs/adr/0013-unity-builds.md has the measurements): the standard library's
# headers are compiled once, and small files of a folder are compiled together.
option(KILN_PRECOMPILED "Compile the standard library's headers once" ON)
option(KILN_UNITY "Compile several files of a folder together" ON)
option(KILN_ALONE "Only parse each file of a group, by itself: what it forgets to include is an error" OFF)
if(KILN_ALONE)
  set(KILN_UNITY OFF)
  set(KILN_PRECOMPILED OFF)
  target_compile_options(kiln_flags INTERFACE -fsyntax-only)
endif()

# kiln_precompile(owner header option...): an object library whose precompiled header others reuse. They must be
# compiled with the same options, of which -fPIC or -fPIE is one.
function(kiln_precompile owner header)
  set(stub ${CMAKE_BINARY_DIR}/${owner}.cc)
  file(CONFIGURE OUTPUT ${stub} CONTENT "" @ONLY)
  add_library(${owner} OBJECT ${stub})
  target_link_libraries(${owner} PRIVATE kiln_flags ${ARGN})
  target_precompile_headers(${owner} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/${header})
endfunction()

# GCC collects its garbage from 512 MiB on instead of 128: a twentieth of its time.
target_compile_options(kiln_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)

# How much a release build optimizes what it spends no time in: tests, and code that is cold (kiln_cold).
set(KILN_OPTIMIZED_TESTS $<$<CONFIG:Release>:-Og>)
set(KILN_OPTIMIZED_COLD $<$<CONFIG:Release>:-O1>)

if(KILN_PRECOMPILED)
  target_compile_options(kiln_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # for ccache
  kiln_precompile(kiln_precompiled precompiled.h)
  kiln_precompile(kiln_precompiled_cold precompiled.h)
  target_compile_options(kiln_precompiled_cold PRIVATE ${KILN_OPTIMIZED_COLD})
  if(KILN_TESTS)
    kiln_precompile(kiln_precompiled_tests precompiled_tests.h GTest::gtest)
    set_target_properties(kiln_precompiled_tests PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(kiln_precompiled_tests PRIVATE -fPIE ${KILN_OPTIMIZED_TESTS})
  endif()
endif()

# Folders whose files are alike on purpose, internal names included: each of these stays alone.
set(KILN_COMPILED_ALONE "/((kernels|compile)/.*|entry)$")

# What group a file is in, in `result`: there are as many groups as keep `most` files in one on average, a power of two.
# It follows from the hash of the file's name, so that a file which comes or goes changes one group.
function(kiln_group_of result name files most)
  set(groups 1)
  math(EXPR fits "${most}")
  while(files GREATER fits)
    math(EXPR groups "${groups} * 2")
    math(EXPR fits "${groups} * ${most}")
  endwhile()
  string(MD5 hash ${name})
  string(SUBSTRING ${hash} 0 4 digits)
  math(EXPR group "0x${digits} % ${groups}")
  set(${result} ${group} PARENT_SCOPE)
endfunction()

# Compiles a library's or program's files in groups of some six. Which files form a group follows from their folder and
# the hash of their name. What includes itself or a table (*.def) stays alone, and what has definitions or includes of its
# own, or is a test: see below.
function(kiln_compile_together target)
  if(NOT KILN_UNITY AND NOT KILN_ALONE)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "^\\$|_test\\.cc$")
  get_target_property(type ${target} TYPE)
  if(type STREQUAL OBJECT_LIBRARY)
    set_property(GLOBAL APPEND PROPERTY KILN_GROUPED ${target})
  endif()
  set(paths "")
  set(folders "")
  set(group_names "")
  foreach(source ${sources})
    get_filename_component(path ${source} ABSOLUTE)
    get_filename_component(folder ${path} DIRECTORY)
    list(APPEND paths ${path})
    list(APPEND folders ${folder})
  endforeach()
  foreach(path folder IN ZIP_LISTS paths folders)
    set(one_folder ${folders})
    string(REPLACE "." "\\." pattern ${folder})
    list(FILTER one_folder INCLUDE REGEX "^${pattern}$")
    list(LENGTH one_folder files)
    get_source_file_property(definitions ${path} COMPILE_DEFINITIONS)
    get_source_file_property(includes ${path} INCLUDE_DIRECTORIES)
    set(alone "")
    if(EXISTS ${path})  # not generated
      file(STRINGS ${path} alone REGEX "foreach_target\\.h|\\.def\"" LIMIT_COUNT 1)
    endif()
    if(files LESS 3 OR alone OR definitions OR includes OR folder MATCHES "${KILN_COMPILED_ALONE}")
      set_source_files_properties(${path} PROPERTIES HEADER_FILE_ONLY ${KILN_ALONE})  # every build sees it alone
      continue()
    elseif(KILN_ALONE)
      continue()
    endif()
    # CMake's own UNITY_BUILD names files by absolute paths, which a compiler cache of several clones cannot share.
    set(groups ${CMAKE_BINARY_DIR}/groups/${target})
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/src ${path})
    file(RELATIVE_PATH group_name ${PROJECT_SOURCE_DIR} ${folder})
    kiln_group_of(group ${name} ${files} 8)
    if(name MATCHES "^\\.\\./")  # outside of src/, which not all targets have among their includes
      file(RELATIVE_PATH name ${groups} ${path})
    endif()
    string(REGEX REPLACE "^src/" "" group_name ${group_name}_${group})
    string(REPLACE "/" "_" group_name ${group_name})
    list(APPEND group_names ${group_name})
    string(APPEND text_of_${group_name} "#include \"${name}\"\n")
    set_source_files_properties(${path} PROPERTIES HEADER_FILE_ONLY ON)
  endforeach()
  list(REMOVE_DUPLICATES group_names)
  foreach(group_name ${group_names})
    set(file ${groups}/${group_name}.cc)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text_of_${group_name}}" @ONLY)
    target_sources(${target} PRIVATE ${file})
  endforeach()
  # A class of a .cc file may use types of its anonymous namespace: still one file, included by another.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# Compiles a program's *_test.cc in groups of some four, whatever folders they are in. Their anonymous namespaces get
# names (group_tests.cmake), so that each file has its own. Alone stay files that have several of these, one using what
# another has, those whose types are named by what CTest lists (TYPED_TEST), and those with definitions of their own.
function(kiln_compile_tests_together target)
  if(NOT KILN_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "_test\\.cc$")
  list(LENGTH sources files)
  if(files LESS 3)
    return()
  endif()
  set(group_names "")
  set(folders "")
  foreach(source ${sources})
    get_filename_component(path ${source} ABSOLUTE)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${path})
    file(STRINGS ${path} lines REGEX "^(namespace {$|TYPED_TEST|#include \")")
    set(namespaces ${lines})
    list(FILTER namespaces EXCLUDE REGEX "^#")
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    if(NOT namespaces STREQUAL "namespace {" OR definitions)
      continue()
    endif()
    get_filename_component(folder ${path} DIRECTORY)
    list(FILTER lines INCLUDE REGEX "^#")
    foreach(include ${lines})
      string(REGEX REPLACE "^#include \"(.*)\".*" "\\1" include ${include})
      if(EXISTS ${folder}/${include})  # named as it is from its own folder
        list(APPEND folders -iquote${folder})
      endif()
    endforeach()
    kiln_group_of(group ${name} ${files} 6)
    list(APPEND group_names ${group})
    list(APPEND paths_of_${group} ${path})
    set_source_files_properties(${source} PROPERTIES HEADER_FILE_ONLY ON)
  endforeach()
  list(REMOVE_DUPLICATES group_names)
  foreach(group ${group_names})
    set(file ${CMAKE_BINARY_DIR}/groups/${target}/tests_${group}.cc)
    set(script ${PROJECT_SOURCE_DIR}/cmake/group_tests.cmake)
    add_custom_command(OUTPUT ${file} DEPENDS ${paths_of_${group}} ${script} COMMENT "" VERBATIM
                       COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DBUILD=${CMAKE_BINARY_DIR}
                               "-DTESTS=${paths_of_${group}}" -DOUTPUT=${file} -P ${script})
    target_sources(${target} PRIVATE ${file})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  target_compile_options(${target} PRIVATE ${folders})
endfunction()

# Gives a library the precompiled header.
function(kiln_precompiled target)
  if(KILN_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM kiln_precompiled)
  endif()
endfunction()

# The same for a library whose code runs once a network: it is optimized less.
function(kiln_cold target)
  target_compile_options(${target} PRIVATE ${KILN_OPTIMIZED_COLD})
  if(KILN_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM kiln_precompiled_cold)
  endif()
endfunction()

# The same for a program of tests, whose own code is optimized less: most of it runs once. GCC 12 then takes texts of
# gtest's messages for arrays that are exceeded.
function(kiln_test_program target)
  target_compile_options(${target} PRIVATE ${KILN_OPTIMIZED_TESTS}
                         $<$<CONFIG:Release>:-Wno-array-bounds -Wno-stringop-overflow>)
  if(KILN_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM kiln_precompiled_tests)
  endif()
  kiln_compile_tests_together(${target})
endfunction()
