#include "library/expander.h"

#include "library/entry.h"
#include "library/objects.h"

namespace kiln::plugins {
namespace {

/// What lives until libnvinfer has copied the weights of the layers that were added.
struct Kept {
  explicit Kept(nv::INetworkDefinition& network) : layers(network) {}
  Layers layers;
  std::string words;
};

Status expand_into(const Plugin& plugin, Kept& kept, void* const* inputs, int32_t num_inputs, void** outputs,
                   int32_t num_outputs) {
  std::vector<nv::ITensor*> tensors;
  for (int32_t i = 0; i < num_inputs; ++i) tensors.push_back(static_cast<nv::ITensor*>(inputs[i]));
  const std::vector<nv::ITensor*> results = TRY(add_layers(plugin, kept.layers, tensors));
  TRY(require(results.size() == static_cast<size_t>(num_outputs), "there are ", results.size(), " outputs, not ",
              num_outputs));
  std::copy(results.begin(), results.end(), outputs);
  return {};
}

KilnExpansion expand(const void* plugin, void* network, void* const* inputs, int32_t num_inputs, void** outputs,
                     int32_t num_outputs, void** kept) {
  const Plugin* const known = known_plugin(plugin);
  if (!known) return kKilnNotOurs;
  auto keeps = std::make_unique<Kept>(*static_cast<nv::INetworkDefinition*>(network));
  const Status status = expand_into(*known, *keeps, inputs, num_inputs, outputs, num_outputs);
  if (!status) keeps->words = status.error().message;
  *kept = keeps.release();
  return status ? kKilnExpanded : kKilnExpansionFailed;
}
const char* words(const void* kept) { return static_cast<const Kept*>(kept)->words.c_str(); }
void release(void* kept) { delete static_cast<Kept*>(kept); }

}  // namespace

Status offer_expansions() {
  static constexpr KilnExpander kExpander{expand, words, release};
  const KilnPluginEntry entry = TRY(plugin_entry());
  if (entry.set_expander(&kExpander) != kKilnOk) return error(Code::kInternal, "libnvinfer refuses expansions");
  return {};
}

}  // namespace kiln::plugins
