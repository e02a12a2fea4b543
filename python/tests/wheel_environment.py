"""A fresh environment with a wheel, for the tests of wheels."""
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]


class Environment:
    """A virtual environment with the wheel and numpy, and what a program in it sees: no path of the build.

    `python` makes it, and has numpy.
    """

    def __init__(self, folder, wheel, python=sys.executable):
        self.folder = folder
        subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
        self.variables = {"PATH": f"{folder}/bin:/usr/bin:/bin", "HOME": str(folder), "KILN_DEVICE": "cpu"}
        self.packages = pathlib.Path(self.python("-c", "import sysconfig; print(sysconfig.get_path('platlib'))").strip())
        # What pip does, by the pip at hand, so that nothing is downloaded: numpy is the one that the tests have.
        subprocess.run([python, "-m", "pip", "--python", self.folder / "bin/python", "install", "--quiet",
                        "--no-deps", "--no-index", wheel], check=True)
        script = "import importlib.util; print(importlib.util.find_spec('numpy').origin)"
        numpy = pathlib.Path(subprocess.check_output([python, "-c", script], text=True).strip()).parent
        for part in (numpy, numpy.with_name("numpy.libs")):
            if part.exists():
                (self.packages / part.name).symlink_to(part)

    def run(self, *command, **variables):
        result = subprocess.run(command, cwd=self.folder, env={**self.variables, **variables}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert result.returncode == 0, result.stdout
        return result.stdout

    def python(self, *arguments, **variables):
        return self.run(str(self.folder / "bin/python"), *map(str, arguments), **variables)

    def demo(self):
        """How many digits the demo reads right. It has the wheel's module and libraries, and no others."""
        demo = self.python(SOURCE / "python/tests/wheel_demo.py", SOURCE / "samples/digits")
        module, libraries, right = demo.splitlines()[-3:]
        assert pathlib.Path(module).parent == self.packages / "kiln/_modules/tensorrt"
        assert {pathlib.Path(library).parent for library in libraries.split()} == {self.packages / "kiln/_native/lib"}
        return int(right)
