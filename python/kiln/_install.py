"""Where the files of the wheel are, and which module `import tensorrt` finds."""
import os
import pathlib
import sys

from . import _stand_in

# Not resolved: the files of a build folder are links to the sources, which have no extension module beside them.
_PACKAGE = pathlib.Path(os.path.abspath(__file__)).parent


def native(*parts):
    """The path of an installed file or folder of the wheel's C++ side."""
    path = _PACKAGE.joinpath("_native", *parts)
    if not path.exists():
        raise FileNotFoundError(f"{path}: this package was not installed from a wheel, so it has no C++ side of its own")
    return str(path)


def program(name):
    """The path of a program of the wheel; in a build folder, of the one that was built there."""
    built = _PACKAGE.parent.parent / name
    if not (_PACKAGE / "_native").exists() and built.is_file():
        return str(built)
    return native("bin", name)


def flag_words(flags):
    """Flags of a program, given as keywords: `isolate=True` is --isolate, `with_="x"` is --with=x; False and None leave one out."""
    words = []
    for name, value in flags.items():
        name = name.rstrip("_")
        flag = f"-{name}" if len(name) == 1 else f"--{name}"
        if value is True:
            words.append(flag)
        elif value is not False and value is not None:
            words.append(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return words


def get_include():
    """The folder of the C++ headers (`NvInfer.h`). Its subfolder `cudart` has the CUDA runtime's, for machines without it."""
    return native("include", "kiln")


def library_dir():
    """The folder of the libraries (`libnvinfer.so`), for `-L` and `-Wl,-rpath`."""
    return native("lib")


def cmake_dir():
    """The folder of the CMake package: `cmake -DKiln_DIR=$(python -c 'import kiln; print(kiln.cmake_dir())')`."""
    return native("lib", "cmake", "Kiln")


def use_as_tensorrt():
    """Makes `import tensorrt` find Kiln's module in this process, even where NVIDIA's is installed.

    Raises ImportError where another `tensorrt` was imported already: objects of both would meet.
    """
    modules = _PACKAGE / "_modules"
    folder = str(modules if modules.is_dir() else _PACKAGE.parent)
    loaded = sys.modules.get("tensorrt")
    if loaded is not None:
        if os.path.dirname(os.path.dirname(os.path.abspath(loaded.__file__))) == folder:
            return
        raise ImportError(f"kiln.use_as_tensorrt(): tensorrt was imported already, from {loaded.__file__}")
    hidden = "kiln._modules.tensorrt"  # its name where the package kiln has loaded it beside NVIDIA's
    for name, module in list(sys.modules.items()):
        if name == hidden or name.startswith(hidden + "."):
            sys.modules["tensorrt" + name[len(hidden):]] = module
    if folder in sys.path:
        sys.path.remove(folder)
    sys.path.insert(0, folder)


def use_as_cuda_python():
    """Makes `cuda.bindings` Kiln's stand-in in this process, even where NVIDIA's cuda-python is installed.

    On a machine without a GPU programs that move data by cuda-python then do so by Kiln's CUDA runtime, in the CPU's memory.
    Raises ImportError where NVIDIA's was imported already: it has streams and memory of its own. `cuda.core`, which is compiled
    against NVIDIA's, is an ImportError from then on.
    """
    _stand_in.install(_PACKAGE / "_cuda_python")
