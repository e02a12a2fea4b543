// A library from before getCreators.
#include "creators.h"

LIBRARY_ENTRY nvinfer1::IPluginCreator* const* getPluginCreators(int32_t& count) {
  static OldCreator creator;
  static nvinfer1::IPluginCreator* const creators[] = {&creator};
  count = 1;
  return creators;
}
