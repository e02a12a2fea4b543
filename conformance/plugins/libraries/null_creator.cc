// A library of which one creator is null.
#include "creators.h"

LIBRARY_ENTRY nvinfer1::IPluginCreatorInterface* const* getCreators(int32_t& count) {
  static NewCreator creator("BesideNull");
  static nvinfer1::IPluginCreatorInterface* const creators[] = {&creator, nullptr};
  count = 2;
  return creators;
}
