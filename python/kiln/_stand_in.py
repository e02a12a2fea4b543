"""Puts Kiln's modules in the place of NVIDIA's cuda-python (`kiln.use_as_cuda_python`)."""
import importlib.machinery
import importlib.util
import sys

# Those of NVIDIA's modules that load a CUDA library, and so have streams and memory of their own.
_NATIVE = ["cuda.cuda", "cuda.cudart", "cuda.nvrtc", "cuda.ccuda", "cuda.ccudart", "cuda.cnvrtc", "cuda.core",
           *(f"cuda.bindings.{name}" for name in ["driver", "runtime", "nvrtc", "cydriver", "cyruntime", "cynvrtc"])]


class _Refusal:
    """The loader of a module that cannot work beside the stand-in."""

    def create_module(self, spec):
        raise ImportError(f"{spec.name} ({spec.origin}) is compiled against NVIDIA's cuda.bindings, in whose place "
                          "kiln.use_as_cuda_python() has put Kiln's", name=spec.name)

    def exec_module(self, module):
        pass


class _Finder:
    """Finds the stand-in's modules by name, whatever the path has: cuda-python up to 12.6 is a package `cuda`, beside which other
    folders of that name are not looked at, and 12.9 imports `cuda.bindings` when Python starts."""

    def __init__(self, folder):
        self.folder = folder

    def find_spec(self, name, path=None, target=None):
        if name == "cuda.core":
            found = importlib.machinery.PathFinder.find_spec(name, path)
            return found and importlib.machinery.ModuleSpec(name, _Refusal(), origin=found.origin)
        if not name.startswith("cuda."):
            return None
        place = self.folder.joinpath(*name.split("."))
        if (place / "__init__.py").is_file():
            return importlib.util.spec_from_file_location(name, place / "__init__.py", submodule_search_locations=[str(place)])
        if place.with_suffix(".py").is_file():
            return importlib.util.spec_from_file_location(name, place.with_suffix(".py"))
        return None

    def is_own(self, module):
        """Whether a module is one of the stand-in's."""
        return (getattr(module, "__file__", None) or "").startswith(str(self.folder))


def install(folder):
    """Makes `cuda.bindings` and the former names of its modules those of `folder`."""
    finder = _Finder(folder)
    for name in _NATIVE:
        loaded = sys.modules.get(name)
        if loaded is not None and not finder.is_own(loaded):
            raise ImportError(f"kiln.use_as_cuda_python(): {name} was imported already, from {loaded.__file__}")
    if any(isinstance(other, _Finder) for other in sys.meta_path):
        return
    for name in [name for name in sys.modules if name == "cuda.bindings" or name.startswith("cuda.bindings.")]:
        del sys.modules[name]  # it has loaded nothing yet
    if hasattr(sys.modules.get("cuda"), "bindings"):
        del sys.modules["cuda"].bindings
    sys.meta_path.insert(0, finder)
    if str(folder) not in sys.path:
        sys.path.append(str(folder))  # where there is no other `cuda`, it is this folder's
