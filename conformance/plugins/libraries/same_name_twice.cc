// A library with two creators of one name.
#include "creators.h"

LIBRARY_ENTRY nvinfer1::IPluginCreatorInterface* const* getCreators(int32_t& count) {
  static NewCreator first("Twin"), second("Twin");
  static nvinfer1::IPluginCreatorInterface* const creators[] = {&first, &second};
  count = 2;
  return creators;
}
