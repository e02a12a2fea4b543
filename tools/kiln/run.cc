/// kiln run: runs the data sets of an ONNX test folder and compares.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "base/counted.h"
#include "base/mapped_file.h"
#include "commands.h"
#include "network.h"
#include "onnx/dtypes.h"
#include "onnx/reader.h"
#include "onnx/tensor_data.h"
#include "session.h"
#include "tensor/view.h"

namespace kiln {
namespace {

/// FOLDER/input_0.pb, FOLDER/input_1.pb, ...
Result<std::vector<HostTensor>> read_tensors(const std::string& folder, const std::string& stem) {
  std::vector<HostTensor> result;
  for (int i = 0;; ++i) {
    const std::string path = str(folder, '/', stem, '_', i, ".pb");
    if (!std::filesystem::exists(path)) return result;
    const auto file = TRY(MappedFile::open(path));
    const auto model = TRY(onnx::read_tensor(file->bytes(), {.folder = folder, .owner = file}));
    result.push_back(TRY(onnx::host_tensor(TRY(onnx::tensor_data(*model, model->graph.initializers.at(0))))));
  }
}

/// The profile of exactly these tensors. Fails if there is not one for each input of the network.
Result<ProfileRequest> profile_for(const ir::Graph& graph, const std::vector<HostTensor>& inputs,
                                   const std::string& folder) {
  ProfileRequest profile;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const std::string& name = graph.value(graph.inputs()[i]).name;
    TRY(require(i < inputs.size(), "the network has ", counted(graph.inputs().size(), "input"), ", ", folder,
                " has tensors for ", inputs.size(), ": '", name, "' needs input_", i, ".pb"));
    profile.extents[name] = {inputs[i].extents(), inputs[i].extents(), inputs[i].extents()};
    if (!graph.type(graph.inputs()[i]).values || !is_index(inputs[i].dtype())) continue;
    const Extents values = View(inputs[i]).integers();  // of a shape tensor, or of data that may be one
    profile.values[name] = {values, values, values};
  }
  TRY(require(inputs.size() == graph.inputs().size(), folder, " has tensors for ", inputs.size(),
              " inputs, the network has ", graph.inputs().size()));
  return profile;
}

void compare(const std::string& name, const HostTensor& got, const HostTensor& want) {
  const View x(got), y(want);
  double worst = 0, largest = 0;
  const bool same_extents = got.extents() == want.extents();
  for (int64_t i = 0; same_extents && i < y.volume(); ++i) {
    largest = std::max(largest, std::abs(y[i]));
    const double off = std::abs(x[i] - y[i]);
    worst = std::isnan(off) ? INFINITY : std::max(worst, off);
  }
  std::printf("  %-24s %s, largest %.6g, off by at most %.3g (%.2g of the largest)\n", name.c_str(),
              str(got.dtype(), got.extents()).c_str(), largest, same_extents ? worst : INFINITY,
              worst / std::max(largest, 1e-30));
}

}  // namespace

Status run_run(const cli::Arguments& arguments) {
  const std::string folder = arguments.text("--data");
  TRY(require(!folder.empty(), "--data=FOLDER is missing: where input_0.pb is"));
  const ir::Graph graph = TRY(import_file(arguments.operands()[1]));
  std::vector<HostTensor> inputs = TRY(read_tensors(folder, "input"));
  const ProfileRequest profile = TRY(profile_for(graph, inputs, folder));
  Session session = TRY(build_session(arguments, graph, profile));
  std::printf("build  %.1f ms\n", session.build_ms);
  TRY(session.set_inputs(std::move(inputs)));
  TRY(session.run());
  TRY(session.fetch());
  const std::vector<HostTensor> wanted = TRY(read_tensors(folder, "output"));
  if (wanted.empty()) std::printf("  ran; %s has no output_0.pb to compare with\n", folder.c_str());
  for (size_t i = 0; i < std::min(wanted.size(), session.outputs.size()); ++i)
    compare(session.plan->outputs[i].name, session.outputs[i], wanted[i]);
  return {};
}

}  // namespace kiln
