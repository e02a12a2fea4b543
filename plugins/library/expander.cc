#include "library/expander.h"

#include "library/entry.h"
#include "library/objects.h"

namespace kiln::plugins {
namespace {

/// What lives until libnvinfer has copied the weights of the layers that were added.
struct ExpansionData {
  explicit ExpansionData(nv::INetworkDefinition& network) : layers(network) {}
  Layers layers;
  std::string words;
};

Status expand_into(const Plugin& plugin, ExpansionData& data, void* const* inputs, int32_t num_inputs, void** outputs,
                   int32_t num_outputs) {
  std::vector<nv::ITensor*> tensors;
  for (int32_t i = 0; i < num_inputs; ++i) tensors.push_back(static_cast<nv::ITensor*>(inputs[i]));
  const std::vector<nv::ITensor*> results = TRY(add_layers(plugin, data.layers, tensors));
  TRY(require(results.size() == static_cast<size_t>(num_outputs), "there are ", results.size(), " outputs, not ",
              num_outputs));
  std::copy(results.begin(), results.end(), outputs);
  return {};
}

KilnExpansion expand(const void* plugin, void* network, void* const* inputs, int32_t num_inputs, void** outputs,
                     int32_t num_outputs, void** kept) {
  const Plugin* const known = known_plugin(plugin);
  if (!known) return kKilnNotOurs;
  auto data = std::make_unique<ExpansionData>(*static_cast<nv::INetworkDefinition*>(network));
  const Status status = expand_into(*known, *data, inputs, num_inputs, outputs, num_outputs);
  if (!status) data->words = status.error().message;
  *kept = data.release();
  return status ? kKilnExpanded : kKilnExpansionFailed;
}
const char* words(const void* kept) { return static_cast<const ExpansionData*>(kept)->words.c_str(); }
void release(void* kept) { delete static_cast<ExpansionData*>(kept); }

}  // namespace

Status offer_expansions() {
  static constexpr KilnExpander kExpander{expand, words, release};
  const KilnPluginEntry entry = TRY(plugin_entry());
  if (entry.set_expander(&kExpander) != kKilnOk) return error(Code::kInternal, "libnvinfer refuses expansions");
  return {};
}

}  // namespace kiln::plugins
