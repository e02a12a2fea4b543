// An old and a new creator, the latter in a namespace; logs by the finder that it is given.
#include "creators.h"

namespace {
nvinfer1::ILoggerFinder* finder = nullptr;
}

LIBRARY_ENTRY void setLoggerFinder(nvinfer1::ILoggerFinder* given) { finder = given; }

LIBRARY_ENTRY nvinfer1::IPluginCreatorInterface* const* getCreators(int32_t& count) {
  static NewCreator new_creator("New", "ours");
  static OldCreator old_creator;
  static nvinfer1::IPluginCreatorInterface* const creators[] = {&old_creator, &new_creator};
  if (nvinfer1::ILogger* logger = finder ? finder->findLogger() : nullptr)
    logger->log(nvinfer1::ILogger::Severity::kINFO, "both_kinds: asked for creators");
  count = 2;
  return creators;
}

/// Not to be asked: getCreators goes first.
LIBRARY_ENTRY nvinfer1::IPluginCreator* const* getPluginCreators(int32_t& count) {
  count = -1;
  return nullptr;
}
