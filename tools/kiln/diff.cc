/// kiln diff: compares two engines, or an engine and its ONNX file, tensor by tensor.
#include <algorithm>

#include "cli/files.h"
#include "commands.h"
#include "flag_table.h"
#include "kiln/diff/comparison.h"
#include "kiln/diff/engine_side.h"
#include "kiln/diff/networks.h"
#include "kiln/diff/reference_side.h"
#include "kiln/diff/report_json.h"
#include "kiln/diff/report_page.h"
#include "kiln/diff/report_text.h"
#include "network.h"
#include "session.h"
#include "tensor/view.h"

namespace kiln {
namespace {

/// The profile of exactly these tensors.
ProfileRequest profile_of_tensors(const ir::Graph& graph, const std::vector<HostTensor>& inputs) {
  ProfileRequest profile;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const std::string& name = graph.value(graph.inputs()[i]).name;
    profile.extents[name] = {inputs[i].extents(), inputs[i].extents(), inputs[i].extents()};
    if (!graph.type(graph.inputs()[i]).values || !is_index(inputs[i].dtype())) continue;
    const Extents values = View(inputs[i]).integers();  // of a shape tensor, or of data that may be one
    profile.values[name] = {values, values, values};
  }
  return profile;
}

diff::Precision precision_of(const cli::Arguments& arguments) {
  if (arguments.has("--bf16")) return diff::Precision::kBfloat;
  return arguments.has("--fp16") ? diff::Precision::kHalf : diff::Precision::kFloat;
}

/// An engine of a network: a plan as it is, an ONNX file built with the flags for these very inputs.
Result<std::unique_ptr<diff::Side>> engine_of(const diff::Network& network, int profile,
                                              const cli::Arguments& arguments, const std::vector<HostTensor>& inputs) {
  Session session = network.plan
                        ? TRY(load_session(network.plan))
                        : TRY(build_session(arguments, network.graph, profile_of_tensors(network.graph, inputs)));
  const diff::Precision least = network.plan ? diff::Precision::kFloat : precision_of(arguments);
  return TRY(diff::EngineSide::create(std::move(session), profile, network.path, least));
}

constexpr std::string_view kBuildFlags[] = {"--backend",
                                            "--instructions",
                                            "--fp16",
                                            "--bf16",
                                            "--noTF32",
                                            "--stronglyTyped",
                                            "--builderOptimizationLevel",
                                            "--maxAuxStreams",
                                            "--tacticSources"};

/// Fails at a flag for builds where `a` is a plan: nothing is built with it.
void require_built(const cli::Arguments& arguments, const diff::Network& a, const diff::Network& b) {
  for (const cli::Flag* flag : arguments.flags())
    cli::require(!a.plan || std::ranges::find(kBuildFlags, flag->name) == std::end(kBuildFlags), flag->name,
                 " says how an ONNX file a is built, and ", a.path, " is a plan, which is built already",
                 b.plan ? "" : str("; --with=\"FLAGS\" builds ", b.path));
}

/// The flags of --with, as a command line has them.
cli::Arguments flags_of_b(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string& word : cli::split(text, ' '))
    if (!word.empty()) words.push_back(word);
  std::vector<const char*> given;
  for (const std::string& word : words) given.push_back(word.c_str());
  cli::Arguments flags(given, {kFlags});
  cli::require(flags.operands().empty(), "--with: '", flags.operands().empty() ? "" : flags.operands()[0],
               "' is no flag");
  for (const cli::Flag* flag : flags.flags())
    cli::require(flag->name == "--verbose" || std::ranges::find(kBuildFlags, flag->name) != std::end(kBuildFlags),
                 "--with: ", flag->name, " says nothing of how b is built");
  return flags;
}

/// What a page of ours begins with: no other file is replaced.
void require_page(const std::string& path) { cli::require_replaceable(path, diff::kPageBegins, diff::kPageHas, "-o"); }

}  // namespace

Status run_diff(const cli::Arguments& arguments) {
  const auto operands = arguments.operands();
  const std::string& path_a = operands[1];
  const std::string& path_b = operands.size() > 2 ? operands[2] : path_a;
  diff::CompareOptions options;
  options.isolate = arguments.has("--isolate");
  arguments.read("--loopRuns", options.most_iterations, 1);
  if (const std::string* size = arguments.find("--keep"))
    options.most_kept_bytes = cli::parse_size(*size, 'M', "--keep");
  if (const std::string* text = arguments.find("--tolerance")) options.tolerance = TRY(diff::parse_tolerance(*text));
  int64_t seed = 0;
  arguments.read("--seed", seed, 0);
  const std::string page = arguments.text("-o");
  cli::require(page != "-", "-o: the standard output has the report; name a file for the page");
  if (!page.empty()) require_page(page);

  const diff::Network a = TRY(diff::open_network(path_a)), b = TRY(diff::open_network(path_b));
  const bool build_b = arguments.has("--with");
  cli::require(!build_b || !b.plan, "--with: ", path_b, " is a plan, which is built already");
  cli::require(operands.size() > 2 || !a.plan, "kiln diff ", path_a,
               ": a plan is compared with another plan or with its ONNX file; name it behind the plan");
  require_built(arguments, a, b);
  const cli::NamedExtents shapes =
      arguments.has("--shapes") ? cli::parse_shapes(arguments.text("--shapes"), "--shapes") : cli::NamedExtents();
  const diff::RunInputs chosen = TRY(diff::choose_inputs(a, b, shapes));
  const cli::NamedTexts files = arguments.has("--loadInputs")
                                    ? cli::parse_pairs(arguments.text("--loadInputs"), "--loadInputs")
                                    : cli::NamedTexts();
  const diff::InputTensors inputs = TRY(diff::make_inputs(a, b, chosen, files, static_cast<uint64_t>(seed)));

  std::unique_ptr<diff::Side> side_a = TRY(engine_of(a, chosen.profile_a, arguments, inputs.a));
  std::unique_ptr<diff::Side> side_b;
  if (b.plan)
    side_b = TRY(engine_of(b, chosen.profile_b, arguments, inputs.b));
  else if (build_b)
    side_b = TRY(engine_of(b, 0, flags_of_b(arguments.text("--with")), inputs.b));
  else
    side_b = TRY(diff::ReferenceSide::create(b.graph, b.path));

  diff::Report report = TRY(diff::compare_sides(*side_a, inputs.a, *side_b, inputs.b, options));
  report.inputs = inputs.description;
  const std::string text =
      arguments.has("--json") ? diff::json_of(report) : diff::text_of(report, arguments.has("--verbose"));
  // Where the page cannot be written, exit status 1 says so, and that comes without a report.
  if (!page.empty()) cli::write_file(page, diff::page_of(report), "page of -o");
  cli::write_stdout(text, "report");
  if (report.first_outside() || !report.faulty().empty()) throw Exit{2};
  if (!report.is_complete()) throw Exit{3};
  return {};
}

}  // namespace kiln
