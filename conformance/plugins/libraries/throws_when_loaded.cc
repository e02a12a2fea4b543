// A library whose initialiser throws, as long as a variable of the environment is set: an object of a class of its own
// where that is "object".
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "creators.h"

namespace {
struct Refusal {};
struct Licence {
  Licence() {
    const char* const wanted = std::getenv("KILN_TEST_NO_LICENCE");
    if (wanted && std::string(wanted) == "object") throw Refusal();
    if (wanted) throw std::runtime_error("no licence");
  }
} licence;
}  // namespace

LIBRARY_ENTRY nvinfer1::IPluginCreatorInterface* const* getCreators(int32_t& count) {
  static NewCreator creator("Licensed");
  static nvinfer1::IPluginCreatorInterface* const creators[] = {&creator};
  count = 1;
  return creators;
}
