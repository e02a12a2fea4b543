# What makes a build from nothing short (docs/adr/0013-unity-builds.md has the measurements): the standard library's
# headers are compiled once, and small files of a folder are compiled together.
option(KILN_PRECOMPILED "Compile the standard library's headers once" ON)
option(KILN_UNITY "Compile several files of a folder together" ON)

# kiln_precompile(owner header option...): an object library whose precompiled header others reuse. They must be
# compiled with the same options, of which -fPIC or -fPIE is one.
function(kiln_precompile owner header)
  set(stub ${CMAKE_BINARY_DIR}/${owner}.cc)
  file(CONFIGURE OUTPUT ${stub} CONTENT "" @ONLY)
  add_library(${owner} OBJECT ${stub})
  target_link_libraries(${owner} PRIVATE kiln_flags ${ARGN})
  target_precompile_headers(${owner} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/${header})
endfunction()

if(KILN_PRECOMPILED)
  target_compile_options(kiln_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # for ccache
  kiln_precompile(kiln_precompiled precompiled.h)
  if(KILN_TESTS)
    kiln_precompile(kiln_precompiled_tests precompiled_tests.h GTest::gtest)
    set_target_properties(kiln_precompiled_tests PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(kiln_precompiled_tests PRIVATE -fPIE $<$<CONFIG:Release>:-O1>)
  endif()
endif()

# Folders whose files are alike on purpose, internal names included: each of these stays alone.
set(KILN_COMPILED_ALONE "/(exec|(kernels|compile)/.*|entry)$")

# Compiles a library's files in groups of some six. Which files form a group follows from their folder and the hash of
# their name, so that a file which comes or goes changes one group. What includes itself or a table (*.def) stays alone.
function(kiln_compile_together target)
  if(NOT KILN_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(folders "")
  set(group_names "")
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    list(APPEND folders ${folder})
  endforeach()
  foreach(source folder IN ZIP_LISTS sources folders)
    set(one_folder ${folders})
    string(REPLACE "." "\\." pattern ${folder})
    list(FILTER one_folder INCLUDE REGEX "^${pattern}$")
    list(LENGTH one_folder files)
    file(STRINGS ${source} alone REGEX "foreach_target\\.h|\\.def\"" LIMIT_COUNT 1)
    if(files LESS 3 OR alone OR folder MATCHES "${KILN_COMPILED_ALONE}")
      continue()
    endif()
    set(groups 1)
    math(EXPR fits "${groups} * 8")
    while(files GREATER fits)
      math(EXPR groups "${groups} * 2")
      math(EXPR fits "${groups} * 8")
    endwhile()
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/src ${source})
    string(MD5 hash ${name})
    string(SUBSTRING ${hash} 0 4 digits)
    math(EXPR group "0x${digits} % ${groups}")
    get_filename_component(group_name ${name} DIRECTORY)
    string(REPLACE "/" "_" group_name ${group_name}_${group})
    list(APPEND group_names ${group_name})
    string(APPEND text_of_${group_name} "#include \"${name}\"\n")
    set_source_files_properties(${source} PROPERTIES HEADER_FILE_ONLY ON)
  endforeach()
  # CMake's own UNITY_BUILD names files by absolute paths, which a compiler cache of several clones cannot share.
  list(REMOVE_DUPLICATES group_names)
  foreach(group_name ${group_names})
    set(file ${CMAKE_BINARY_DIR}/groups/${target}/${group_name}.cc)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text_of_${group_name}}" @ONLY)
    target_sources(${target} PRIVATE ${file})
  endforeach()
  # A class of a .cc file may use types of its anonymous namespace: still one file, included by another.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# Gives a library the precompiled header.
function(kiln_precompiled target)
  if(KILN_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM kiln_precompiled)
  endif()
endfunction()

# The same for a program of tests, whose own code is optimized less: most of it runs once. GCC 12 then takes texts of
# gtest's messages for arrays that are exceeded.
function(kiln_test_program target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1 -Wno-array-bounds -Wno-stringop-overflow>)
  if(KILN_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM kiln_precompiled_tests)
  endif()
endfunction()
