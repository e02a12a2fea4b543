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

Status expand_into(const Plugin& plugin, ExpansionData& data, std::span<const float> scales, void* const* inputs,
                   int32_t num_inputs, void** outputs, int32_t num_outputs) {
  std::vector<nv::ITensor*> tensors;
  for (int32_t i = 0; i < num_inputs; ++i) tensors.push_back(static_cast<nv::ITensor*>(inputs[i]));
  const std::vector<nv::ITensor*> results = TRY(add_layers(plugin, data.layers, tensors, scales));
  TRY(require(results.size() == static_cast<size_t>(num_outputs), "there are ", results.size(), " outputs, not ",
              num_outputs));
  std::copy(results.begin(), results.end(), outputs);
  return {};
}

KilnExpansion expand(const void* plugin, void* network, const float* scales, void* const* inputs, int32_t num_inputs,
                     void** outputs, int32_t num_outputs, void** kept) {
  const Plugin* const known = known_plugin(plugin);
  if (!known) return kKilnNotOurs;
  if (!scales && known->computation->knows_bytes()) return kKilnLater;
  auto data = std::make_unique<ExpansionData>(*static_cast<nv::INetworkDefinition*>(network));
  const auto count = static_cast<size_t>(num_inputs) + static_cast<size_t>(num_outputs);
  const std::vector<float> ones(count, 1.0F);  // before ranges are known nothing reads them
  const Status status =
      expand_into(*known, *data, {scales ? scales : ones.data(), count}, inputs, num_inputs, outputs, num_outputs);
  if (!status) data->words = status.error().message;
  *kept = data.release();
  return status ? kKilnExpanded : kKilnExpansionFailed;
}
const char* words(const void* kept) { return static_cast<const ExpansionData*>(kept)->words.c_str(); }
void release(void* kept) { delete static_cast<ExpansionData*>(kept); }
int32_t needs_int32(const void* plugin, const int32_t* before, int32_t count) {
  const Plugin* const known = known_plugin(plugin);
  if (!known || (known->definition->max_inputs >= 0 && count >= known->definition->max_inputs)) return 0;
  Types types;
  for (int32_t i = 0; i < count; ++i) types.push_back(static_cast<nv::DataType>(before[i]));
  const StandardPlugin& computation = *known->computation;
  return computation.takes(nv::DataType::kINT32, types) && !computation.takes(nv::DataType::kINT64, types);
}

}  // namespace

Status offer_expansions() {
  static constexpr KilnExpander kExpander{expand, words, release, needs_int32};
  const KilnPluginEntry entry = TRY(plugin_entry());
  if (entry.set_expander(&kExpander) != kKilnOk) return error(Code::kInternal, "libnvinfer refuses expansions");
  return {};
}

}  // namespace kiln::plugins
