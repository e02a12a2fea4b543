/// kiln serve: the server, which is a Python package, in this process's place.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <vector>

#include "commands.h"

namespace kiln {
namespace {

/// Runs the package's command, or says how to get it. Arguments follow as sys.argv[1:].
constexpr const char* kStart = R"(
import sys
try:
    from kiln.serve.__main__ import main
except ModuleNotFoundError as failure:
    sys.exit(f"kiln serve: {failure} ({sys.executable}). The server is part of Kiln's Python package: "
             "pip install 'kiln-inference[serve]', or name another Python by KILN_PYTHON")
sys.exit(main())
)";

}  // namespace

Status run_serve(std::span<const char* const> words) {
  const char* named = std::getenv("KILN_PYTHON");
  const std::string python = named && *named ? named : "python3";
  // -P: with -c alone Python would import from the current folder first, so a kiln.py or json.py there would be run.
  std::vector<std::string> texts{python, "-P", "-c", kStart};
  texts.insert(texts.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  execvp(python.c_str(), arguments.data());  // returns only where it fails
  return error(Code::kNotFound, "serve: Python cannot be run as '", python,
               "': ", std::generic_category().message(errno), "; KILN_PYTHON names another");
}

}  // namespace kiln
