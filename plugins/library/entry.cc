#include "library/entry.h"

namespace kiln::plugins {
namespace {

Result<KilnPrivateEntry> fetched() {
  KilnPrivateEntry table{};
  table.size = sizeof table;
  table.version = kKilnEntryVersion;
  if (kiln_private_entry(&table) != kKilnOk || !table.tell_failure)
    return error(Code::kVersion, "libnvinfer is of another build of Kiln: its private entry has version ",
                 table.version, ", libnvinfer_plugin needs ", static_cast<uint32_t>(kKilnEntryVersion));
  return table;
}
/// libnvinfer's table, which does not change. It is fetched once: runs ask for it.
const Result<KilnPrivateEntry>& private_entry() {
  static const auto& table = *new Result<KilnPrivateEntry>(fetched());
  return table;
}

/// The output of what an entry's function has added.
template <class F>
Value added(Layers& layers, F add) {
  const Result<KilnPluginEntry> entry = plugin_entry();
  void* const output = entry ? add(*entry) : nullptr;
  if (!output) layers.fail();
  return {layers, static_cast<nv::ITensor*>(output)};
}

}  // namespace

Result<KilnPluginEntry> plugin_entry() {
  const Result<KilnPrivateEntry>& table = private_entry();
  if (!table) return std::unexpected(table.error());
  return table->plugin;
}

bool enqueue_is_captured() {
  const Result<KilnPrivateEntry>& table = private_entry();
  return table && table->enqueue_kind() == kKilnCapture;
}

bool tell_caller(const char* plugin, const char* words) {
  const Result<KilnPrivateEntry>& table = private_entry();
  return table && table->tell_failure(plugin, words) != 0;
}

Value scatter_reduced(const Value& data, const Value& indices, const Value& updates, int axis,
                      KilnReduction reduction) {
  if (!data.tensor() || !indices.tensor() || !updates.tensor()) return data.layers().output(nullptr);
  return added(data.layers(), [&](const KilnPluginEntry& entry) {
    return entry.add_scatter_elements(&data.layers().network(), data.tensor(), indices.tensor(), updates.tensor(), axis,
                                      reduction);
  });
}

Value roi_align(const Value& x, const Value& rois, const Value& batch_indices, const KilnRoiAlign& how) {
  if (!x.tensor() || !rois.tensor() || !batch_indices.tensor()) return x.layers().output(nullptr);
  return added(x.layers(), [&](const KilnPluginEntry& entry) {
    return entry.add_roi_align(&x.layers().network(), x.tensor(), rois.tensor(), batch_indices.tensor(), &how);
  });
}

}  // namespace kiln::plugins
