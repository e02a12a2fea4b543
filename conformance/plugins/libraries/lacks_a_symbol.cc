// A library that was linked without one that it needs.
#include "creators.h"

extern "C" nvinfer1::IPluginCreatorInterface* const* creators_from_elsewhere(int32_t& count);

LIBRARY_ENTRY nvinfer1::IPluginCreatorInterface* const* getCreators(int32_t& count) {
  return creators_from_elsewhere(count);
}
