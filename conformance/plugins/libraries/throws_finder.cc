// A library that does not take a logger finder.
#include <stdexcept>

#include "creators.h"

LIBRARY_ENTRY void setLoggerFinder(nvinfer1::ILoggerFinder*) { throw std::logic_error("not wanted"); }
LIBRARY_ENTRY nvinfer1::IPluginCreatorInterface* const* getCreators(int32_t& count) {
  count = 0;
  return nullptr;
}
