/// kiln show: a page that shows an engine: its graph, times, memory, and what else could have run each layer.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/mapped_file.h"
#include "cli/files.h"
#include "commands.h"
#include "layer_files.h"
#include "network.h"
#include "page.h"
#include "plan/json.h"
#include "plan/reader.h"
#include "session.h"
#include "step_times.h"
#include "tensor/view.h"

namespace kiln {
namespace {

enum class Content : uint8_t { kPlan, kJson, kOnnx };

/// What a file holds, by how it begins and ends. Text is never an ONNX file, whatever its name is.
Result<Content> content_of(const MappedFile& file, const std::string& path) {
  if (is_plan(file.bytes())) return Content::kPlan;
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  TRY(require(!text.starts_with("\xff\xfe") && !text.starts_with("\xfe\xff"), path,
              ": it is text in UTF-16; UTF-8 is needed"));
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf", kSpace = " \t\r\n";  // the mark: some shells write it
  const size_t first = text.find_first_not_of(kSpace, text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
  const size_t last = text.find_last_not_of(kSpace);
  if (first == text.npos) return Content::kOnnx;
  const bool is_text = text[first] == '"' && text[last] == '"' && first < last;
  return text[first] == '{' || text[first] == '[' || is_text || path.ends_with(".json") ? Content::kJson
                                                                                        : Content::kOnnx;
}

Result<Datum> read_json(const std::string& path) {
  const std::vector<char> text = cli::read_file(path, "JSON");
  return in_context(plan::parse_json({text.data(), text.size()}), [&] { return path; });
}

/// Fails at a flag that means nothing for what `path` is.
Status allow_flags(const cli::Arguments& arguments, std::span<const std::string_view> allowed, std::string_view path,
                   std::string_view what) {
  for (const cli::Flag* flag : arguments.flags())
    TRY(require(std::ranges::find(allowed, flag->name) != allowed.end(), "flag ", flag->name,
                " means nothing here: ", path, " is ", what));
  return {};
}

constexpr std::string_view kForReports[] = {"-o", "--layerTimes", "--useProfile"};
constexpr std::string_view kForPlans[] = {"-o",       "--layerTimes", "--noRun",     "--runs",
                                          "--shapes", "--verbose",    "--useProfile"};

std::vector<std::string> names_of(const plan::Plan& plan) {
  std::vector<std::string> names;
  for (const plan::IoTensor& input : plan.inputs) names.push_back(input.name);
  return names;
}

/// The flags of one `kiln show`.
struct ShowWanted {
  std::string path;
  std::string profile_file;  ///< empty: none
  int profile = 0, runs = 20;
  bool run = true;
};

/// A plan and, where it ran here, its times.
struct TimedPlan {
  std::shared_ptr<const plan::Plan> plan;
  std::optional<StepTimes> times;
  std::string why_not_run;
};

/// The plan that `path` holds, run where a device of its kind is here and it is to be run.
Result<TimedPlan> read_timed(const ShowWanted& wanted, const std::shared_ptr<const MappedFile>& file,
                             const cli::NamedExtents& shapes) {
  TimedPlan shown;
  shown.plan = TRY(in_context(plan::read_plan(file->bytes(), file), [&] { return wanted.path; }));
  const auto& profiles = shown.plan->profiles;
  TRY(require(static_cast<size_t>(wanted.profile) < profiles.size(), "--useProfile: ", wanted.path, " has ",
              profiles.size(), profiles.size() == 1 ? " profile; " : " profiles; ", wanted.profile,
              " is not one of them, which count from 0"));
  cli::require_inputs(shapes, names_of(*shown.plan), wanted.path);
  if (!wanted.run) return shown;
  const auto run = [&]() -> Result<StepTimes> {
    Session session = TRY(load_session(shown.plan));
    TRY(session.context->select_profile(wanted.profile));
    const std::vector<Extents> extents = extents_at(*shown.plan, wanted.profile, shapes);
    TRY(session.set_inputs(TRY(made_up_inputs(*shown.plan, wanted.profile, extents))));
    return measure(session, wanted.runs);
  };
  if (Result<StepTimes> times = run())
    shown.times = std::move(*times);
  else
    shown.why_not_run = times.error().message;
  return shown;
}

/// The plan that is built of an ONNX file, run where that is wanted.
Result<TimedPlan> build_timed(const cli::Arguments& arguments, const ShowWanted& wanted,
                              const cli::RequestedShapes& shapes) {
  const ir::Graph graph = TRY(import_file(wanted.path));
  TRY(require(wanted.profile == 0, "--useProfile: a plan that is built here has profile 0 only"));
  Session session = TRY(build_session(arguments, graph, profile_of(graph, shapes.build)));
  TimedPlan shown{.plan = session.plan, .times = {}, .why_not_run = {}};
  if (!wanted.run) return shown;
  const std::vector<Extents> extents = extents_at(*session.plan, 0, shapes.run);
  TRY(session.set_inputs(TRY(made_up_inputs(*session.plan, 0, extents))));
  shown.times = TRY(measure(session, wanted.runs));
  return shown;
}

Result<Picture> draw(const TimedPlan& shown, const ShowWanted& wanted, const cli::NamedExtents& shapes) {
  const plan::Plan& plan = *shown.plan;
  const std::vector<Extents> extents = extents_at(plan, wanted.profile, shapes);
  const auto inputs = TRY(made_up_inputs(plan, wanted.profile, extents));
  const KnownValues values = TRY(values_at(plan, wanted.profile, inputs));
  Picture picture = picture_of(plan, wanted.profile, values, shown.times ? &*shown.times : nullptr);
  if (!shown.why_not_run.empty()) {
    std::fprintf(stderr, "kiln: not run: %s\n", shown.why_not_run.c_str());
    picture.notes.push_back(str("The engine was not run here, so there are no measured times: ", shown.why_not_run));
  } else if (!shown.times && wanted.profile_file.empty()) {
    picture.notes.emplace_back("The engine was not run, so there are no measured times (--noRun).");
  }
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    if (plan.inputs[i].is_shape)
      picture.notes.push_back(str("Shapes are those for the values ", View(inputs[i]).integers(), " of shape input '",
                                  plan.inputs[i].name, "', which the profile is tuned for. Other values are not shown.",
                                  wanted.profile_file.empty() ? "" : " The times may be of others."));
  return picture;
}

Result<Picture> read_picture(const cli::Arguments& arguments, const ShowWanted& wanted) {
  const auto file = TRY(MappedFile::open(wanted.path));
  const Content content = TRY(content_of(*file, wanted.path));
  if (content == Content::kJson) {
    TRY(allow_flags(arguments, kForReports, wanted.path, "a report of an engine"));
    const Datum data = TRY(read_json(wanted.path));
    if (!is_profile(data)) return in_context(read_layer_info(data, wanted.profile), [&] { return wanted.path; });
    TRY(require(!arguments.has("--useProfile"), "flag --useProfile means nothing here: ", wanted.path,
                " has times of one profile alone"));
    const auto times = TRY(in_context(read_profile(data), [&] { return wanted.path; }));
    Picture picture = picture_of(times);
    TRY(add_times(times, picture));
    return picture;
  }
  const cli::RequestedShapes shapes = read_shapes(arguments);
  if (content == Content::kOnnx) return draw(TRY(build_timed(arguments, wanted, shapes)), wanted, shapes.run);
  TRY(allow_flags(arguments, kForPlans, wanted.path, "a plan, which is built"));
  return draw(TRY(read_timed(wanted, file, shapes.run)), wanted, shapes.run);
}

}  // namespace

Status run_show(const cli::Arguments& arguments) {
  ShowWanted wanted{.path = arguments.operands()[1], .profile_file = arguments.text("--layerTimes")};
  arguments.read("--runs", wanted.runs, 1);
  arguments.read("--useProfile", wanted.profile, 0);
  wanted.run = !arguments.has("--noRun") && wanted.profile_file.empty();
  TRY(require(wanted.run || !arguments.has("--runs"), "flag --runs means nothing beside ",
              wanted.profile_file.empty() ? "--noRun" : "--layerTimes", ": nothing is run"));
  const std::filesystem::path path = wanted.path;
  const std::string output = arguments.text("-o", path.stem().string() + ".html");
  const bool to_stdout = output == "-";
  if (!to_stdout) cli::require_replaceable(output, kPageBegins, kPageHas, "-o");
  Picture picture = TRY(read_picture(arguments, wanted));
  const bool is_plain = path.stem() == "model" || path.stem() == "engine";  // says less than its folder's name
  picture.title = (is_plain ? path.parent_path().filename() / path.filename() : path.filename()).string();
  if (!wanted.profile_file.empty()) {
    const Datum data = TRY(read_json(wanted.profile_file));
    const auto times = TRY(in_context(read_profile(data), [&] { return wanted.profile_file; }));
    TRY(in_context(add_times(times, picture), [&] { return wanted.profile_file; }));
  }
  const std::string page = make_page(picture);
  if (to_stdout) {
    cli::write_stdout(page, "page");
    return {};
  }
  cli::write_file(output, page, "page of -o");
  std::fprintf(stderr, "%s: %zu layers, %.1f KB\n", output.c_str(), picture.steps.size(),
               static_cast<double>(page.size()) / 1e3);
  return {};
}

}  // namespace kiln
