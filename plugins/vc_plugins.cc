// libnvinfer_vc_plugin: the standard plugins that plans of version-compatible networks may carry with them, for
// registries that load libraries. TensorRT 10.16's library has one, too.
#include <NvInferPlugin.h>

#include <algorithm>
#include <array>

#include "library/creators.h"
#include "library/engines.h"

namespace kiln::plugins {

std::vector<Definition>
roi_align();  // roi_align/roi_align.cc; the definitions of the others are left out of the library

namespace {

/// Registries hold it as long as the process lives.
nv::IPluginCreatorInterface* creator_of_version(std::string_view version) {
  static const std::vector<Definition>& all = *new std::vector<Definition>(roi_align());
  const auto found =
      std::ranges::find_if(all, [&](const Definition& one) { return std::string_view(one.version) == version; });
  return make_creator(*found, "").release();
}

}  // namespace
}  // namespace kiln::plugins

using namespace kiln::plugins;

extern "C" TENSORRTAPI nv::IPluginCreatorInterface* const* getCreators(int32_t& nbCreators) {
  static const std::array kCreators{creator_of_version("2")};
  nbCreators = static_cast<int32_t>(kCreators.size());
  return kCreators.data();
}

extern "C" TENSORRTAPI void setLoggerFinder(nv::ILoggerFinder* finder) {
  if (finder) set_logger(finder->findLogger());
}
