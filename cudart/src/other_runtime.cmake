# Writes a library's source: the functions of `SYMBOLS`, each of which fails as NVIDIA's runtime does without a driver.
file(STRINGS ${SYMBOLS} names)
set(text "/* Made by other_runtime.cmake. */\n")
foreach(name ${names})
  string(APPEND text "int ${name}(void) { return 35; }\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
