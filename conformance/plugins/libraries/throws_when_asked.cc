// A library whose entry point throws, an object of a class of its own.
#include "creators.h"

namespace {
struct Refusal {};
}  // namespace

LIBRARY_ENTRY nvinfer1::IPluginCreatorInterface* const* getCreators(int32_t&) { throw Refusal(); }
