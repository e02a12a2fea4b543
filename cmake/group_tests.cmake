# Writes several tests into one file (kiln_compile_tests_together): cmake -DROOT= -DBUILD= -DTESTS= -DOUTPUT= -P ...
# What is internal to one is not seen by the next, so that tests may have short names: the anonymous namespace of
# src/ops/softmax_test.cc stands in a namespace src_ops_softmax_test. Lines and files are named as in the originals.
set(all "")
foreach(test IN LISTS TESTS)
  file(READ ${test} text)
  file(RELATIVE_PATH name ${ROOT} ${test})
  string(REGEX REPLACE "\\.cc$" "" name ${name})
  string(MAKE_C_IDENTIFIER ${name} name)
  file(RELATIVE_PATH shown ${BUILD} ${test})  # from where the compiler runs: a compiler cache serves several clones
  string(REPLACE "\nnamespace {\n" "\nnamespace ${name} { namespace {\n" text "${text}")
  string(REPLACE "\n}  // namespace\n" "\n} }  // namespace\n" text "${text}")
  string(APPEND all "#line 1 \"${shown}\"\n${text}")
endforeach()
file(WRITE ${OUTPUT} "${all}")
