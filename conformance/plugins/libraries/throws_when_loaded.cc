// A library whose initialiser throws, as long as a variable of the environment is set.
#include <cstdlib>
#include <stdexcept>

#include "creators.h"

namespace {
struct Licence {
  Licence() {
    if (std::getenv("KILN_TEST_NO_LICENCE")) throw std::runtime_error("no licence");
  }
} licence;
}  // namespace

LIBRARY_ENTRY nvinfer1::IPluginCreatorInterface* const* getCreators(int32_t& count) {
  static NewCreator creator("Licensed");
  static nvinfer1::IPluginCreatorInterface* const creators[] = {&creator};
  count = 1;
  return creators;
}
