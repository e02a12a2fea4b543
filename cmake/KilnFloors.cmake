# A floor is a folder under src/: its sources become the object library `kiln_<name>`, its *_test.cc files the test
# executable `test_<name>`, and what lies in its testing/ folder is linked into that test and those of higher floors.
# Adding a file needs no edit here. What a backend has for building plans alone, the folders behind COMPILING, becomes
# `kiln_<name>_compiling`: whoever only runs plans links without it. COLD says of a floor that its code runs once a
# network, COMPILING_COLD of that part.
set_property(GLOBAL PROPERTY KILN_FLOORS "")
set_property(GLOBAL PROPERTY KILN_TESTING "")

if(KILN_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

# An object library of a floor's files, if there are any, noted in `list`; with the includes and options of kiln_floor,
# compiled as `precompiled` says: kiln_precompiled or kiln_cold.
function(kiln_floor_objects name list precompiled sources)
  if(NOT sources)
    return()
  endif()
  add_library(kiln_${name} OBJECT ${sources})
  target_link_libraries(kiln_${name} PUBLIC kiln_flags)
  target_include_directories(kiln_${name} PRIVATE ${includes})
  target_compile_options(kiln_${name} PRIVATE ${options})
  cmake_language(CALL ${precompiled} kiln_${name})
  kiln_compile_together(kiln_${name})
  set_property(GLOBAL APPEND PROPERTY ${list} kiln_${name})
endfunction()

function(kiln_floor path)
  cmake_parse_arguments(PARSE_ARGV 1 floor "COLD;COMPILING_COLD" "" COMPILING)
  string(REPLACE "/" "_" name ${path})
  set(folder ${PROJECT_SOURCE_DIR}/src/${path})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  set(tests ${sources})
  set(testing ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test\\.cc|/testing/[^/]*)$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER testing INCLUDE REGEX "/testing/[^/]*$")
  set(includes "")
  set(options "")
  if(path MATCHES "^(api|plugin)")
    set(includes ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/cudart/include)
    # They define the API's functions, the deprecated ones too.
    set(options -DTENSORRT_BUILD_LIB -Wno-deprecated-declarations)
  endif()
  set(compiling "")
  if(floor_COMPILING)
    list(JOIN floor_COMPILING "|" folders)
    set(compiling ${sources})
    list(FILTER compiling INCLUDE REGEX "^${folder}/(${folders})/")
    list(FILTER sources EXCLUDE REGEX "^${folder}/(${folders})/")
  endif()
  set(precompiled kiln_precompiled)
  if(floor_COLD)
    set(precompiled kiln_cold)
  endif()
  kiln_floor_objects(${name} KILN_FLOORS ${precompiled} "${sources}")
  if(floor_COMPILING_COLD)
    set(precompiled kiln_cold)
  endif()
  kiln_floor_objects(${name}_compiling KILN_FLOORS ${precompiled} "${compiling}")
  if(NOT KILN_TESTS)
    return()
  endif()
  kiln_floor_objects(${name}_testing KILN_TESTING ${precompiled} "${testing}")
  if(tests)
    get_property(floors GLOBAL PROPERTY KILN_FLOORS)
    get_property(helpers GLOBAL PROPERTY KILN_TESTING)
    add_executable(test_${name} ${tests})
    target_link_libraries(test_${name} PRIVATE kiln_flags ${floors} ${helpers} GTest::gtest GTest::gtest_main)
    target_include_directories(test_${name} PRIVATE ${includes})
    kiln_test_program(test_${name})
    get_property(programs GLOBAL PROPERTY KILN_TEST_PROGRAMS)  # that tests from here on load or run
    if(programs)
      add_dependencies(test_${name} ${programs})
    endif()
    # GCC 12 takes the vectors of a case table's rows for uninitialised where a row fails halfway.
    target_compile_options(test_${name} PRIVATE -Wno-maybe-uninitialized ${options})
    # Suites that want a real GPU have Gpu in their names, and skip themselves where there is none.
    # The others run alike on every machine.
    gtest_discover_tests(test_${name} DISCOVERY_MODE PRE_TEST TEST_FILTER -*Gpu* PROPERTIES LABELS host
                         ENVIRONMENT KILN_DEVICE=cpu)
    gtest_discover_tests(test_${name} DISCOVERY_MODE PRE_TEST TEST_FILTER *Gpu* PROPERTIES LABELS cuda)
  endif()
endfunction()

# A folder joins the build as soon as it has a CMakeLists.txt.
function(kiln_optional_directory path)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${path}/CMakeLists.txt)
    add_subdirectory(${path})
  endif()
endfunction()
