# Installs KILN_BUILD into the wheel's tree, below kiln/_native, and the Python packages of MODULE_BUILD beside it.
set(native ${CMAKE_INSTALL_PREFIX}/kiln/_native)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${KILN_BUILD} --prefix ${native} --strip
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${MODULE_BUILD} --prefix ${CMAKE_INSTALL_PREFIX} --component python --strip
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
if(NOT EXISTS ${CMAKE_INSTALL_PREFIX}/kiln/_modules/tensorrt/${MODULE})
  message(FATAL_ERROR "${MODULE_BUILD} has no ${MODULE}: for the stable ABI of Python 3.12 and later, CMake 3.26 is needed")
endif()

# A wheel has no symbolic links. A library keeps the one name that programs load; the name for the linker becomes a script.
file(GLOB_RECURSE libraries ${native}/lib/*.so)
foreach(library ${libraries})
  file(REAL_PATH ${library} file)
  cmake_path(GET library PARENT_PATH folder)
  cmake_path(GET library FILENAME name)
  file(GLOB versions RELATIVE ${folder} ${library}.*)
  if(NOT versions)  # libkiln_cudart.so has the one name
    continue()
  endif()
  list(SORT versions COMPARE NATURAL)
  list(GET versions 0 loaded)  # libnvinfer.so.10, before libnvinfer.so.10.16.0
  cmake_path(GET file FILENAME full)
  file(RENAME ${file} ${folder}/${loaded}.file)
  file(REMOVE ${library} ${folder}/${loaded})
  file(RENAME ${folder}/${loaded}.file ${folder}/${loaded})
  file(WRITE ${library} "INPUT(${loaded})\n")
  list(APPEND renamed ${full} ${loaded})
endforeach()

# The CMake package names the files.
file(GLOB targets ${native}/lib/cmake/Kiln/KilnTargets-*.cmake)
foreach(target ${targets})
  file(READ ${target} text)
  set(names ${renamed})
  while(names)
    list(POP_FRONT names full loaded)
    string(REPLACE "/${full}\"" "/${loaded}\"" text "${text}")
  endwhile()
  file(WRITE ${target} "${text}")
endforeach()

# Last on the path, since site adds what a .pth file names at the end: NVIDIA's module, where installed, stays the one
# that `import tensorrt` finds, unless the environment asks for Kiln's.
file(WRITE ${CMAKE_INSTALL_PREFIX}/kiln_tensorrt.pth
     "kiln/_modules\n"
     "import os; os.environ.get('KILN_AS_TENSORRT') == '1' and __import__('kiln').use_as_tensorrt()\n"
     "import os; os.environ.get('KILN_AS_CUDA_PYTHON') == '1' and __import__('kiln').use_as_cuda_python()\n")
