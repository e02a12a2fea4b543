#include "builder/build.h"

#include <algorithm>
#include <map>
#include <set>

#include "builder/assertions.h"
#include "builder/debug_taps.h"
#include "builder/emit.h"
#include "builder/order.h"
#include "builder/plugin_fields.h"
#include "builder/specialize.h"
#include "builder/workspaces.h"
#include "ir/body_role.h"
#include "ir/precision.h"
#include "ir/shape_tensors.h"
#include "ops/dequantize.h"
#include "ops/loop.h"
#include "passes/captures.h"
#include "passes/fold_row_scale.h"
#include "passes/keep_large.h"
#include "passes/pass.h"
#include "passes/quantize_contractions.h"
#include "passes/quantize_layers.h"
#include "passes/quantize_plugins.h"
#include "passes/remove_dead.h"
#include "passes/source_uses.h"
#include "plan/control.h"
#include "plan/programs.h"
#include "plan/validate.h"
#include "sym/program_words.h"
#include "sym/real.h"
#include "sym/unbounded.h"
#include "tactics/alternatives.h"

namespace kiln {
namespace {

constexpr size_t kMostTold = 8;  ///< layers that stay in FP32, of which the log tells each

class Build {
 public:
  Build(const ir::Graph& network, Backend& backend, const BuildRequest& request, DebugTaps& taps, Log& log)
      : network_(with_sources(network)),
        backend_(backend),
        request_(request),
        taps_(taps),
        log_(log),
        surface_formats_(request.surface_formats),
        direct_formats_(request.direct_formats),
        weights_(plan_),
        binaries_(plan_.binaries),
        fixed_sources_(read_sources(network)) {}

  Result<plan::Plan> run(TimingCache& cache);

 private:
  Status check_surface() const;
  void describe_surface();
  void keep_formats(const ir::Graph& graph, const Surface& surface);
  Status add_profile(const ProfileRequest& request, Timer& timer, TimingCache& cache);
  Status optimize(ir::Graph& graph, bool is_body);
  Status quantize(ir::Graph& graph);
  std::string why_in_float(const ir::Graph& graph, ir::NodeId id) const;
  Status check_bytes(const ir::Graph& graph) const;
  Status keep_large(ir::Graph& graph) const;
  Result<int> add_body(const ir::Node& node, size_t body, Timer& timer);
  void note_libraries(const Cover& cover);
  Status check_size(std::string_view name, double size_bytes) const;
  Status check_surface_sizes(const ir::Graph& graph) const;
  void mark_shape_inputs();
  void log_steering();
  std::unexpected<Error> with_missing_values(Error error, const ProfileRequest& profile) const;
  bool progress(const char* phase, int done, int total) const {
    return !request_.progress || request_.progress(request_.progress_user, phase, done, total);
  }

  const ir::Graph network_;
  Backend& backend_;
  const BuildRequest& request_;
  DebugTaps& taps_;
  Log& log_;
  std::map<std::string, Format> surface_formats_;              ///< as the first profile has them
  std::map<std::string, std::vector<Format>> direct_formats_;  ///< that are left to choose from
  plan::Plan plan_;
  SourceTable weights_;
  WeightTable binaries_;
  FixedSources fixed_sources_;
  std::map<std::string, std::string, std::less<>> left_in_float_;  ///< why contractions did not get bytes, by name
};

/// Makes an output, without a name, of a node that is there for the sizes that it decides and nothing else.
void keep_deciders(ir::Graph& graph) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id) || graph.node(id).sizes.empty()) continue;
    const auto& outputs = graph.node(id).outputs;
    if (std::ranges::all_of(outputs, [&](ir::ValueId value) { return graph.num_uses(value) == 0; }))
      graph.mark_output(outputs[0], "");
  }
}

std::string body_name(const ir::Node& node, size_t body) {
  return str(ir::body_role(node, body), " of ", node.op.name(), " '", node.name, "'");
}

/// Whether an expression has one of the flagged symbols.
bool reads_any(const sym::Expr& e, const std::vector<bool>& flags) {
  std::vector<sym::Expr> symbols;
  collect_symbols(e, symbols);
  return std::ranges::any_of(symbols, [&](const sym::Expr& s) { return flags[static_cast<size_t>(s.symbol_id())]; });
}

/// What binds symbols in each run of a loop's body: the extents of carried values that change, and elements.
std::vector<plan::BodySymbol> bound_anew(const ir::Node& node, const ir::Graph& body) {
  std::vector<plan::BodySymbol> result;
  if (!node.op.as<ops::Loop>()) return result;
  for (const DecidedSize& size : node.sizes)
    for (size_t i = 0; i < body.inputs().size(); ++i) {
      const auto& values = body.type(body.inputs()[i]).values;
      for (size_t k = 0; size.is_inner && values && k < values->size(); ++k)
        if ((*values)[k] == size.symbol)
          result.push_back(
              {.symbol = size.symbol.symbol_id(), .input = static_cast<int>(i), .element = static_cast<int>(k)});
      if (size.is_inner) continue;
      const Shape& shape = body.type(body.inputs()[i]).shape;
      const auto axis = std::ranges::find(shape, size.symbol);
      if (axis == shape.end()) continue;
      result.push_back({size.symbol.symbol_id(), static_cast<int>(i), static_cast<int>(axis - shape.begin())});
      break;
    }
  return result;
}

/// An input or output of the network or of a body, whose axes have no names.
plan::IoTensor io_tensor(const std::string& name, const TensorType& type) {
  plan::IoTensor io{.name = name, .dtype = type.dtype};
  for (const sym::Expr& extent : type.shape) io.extents.push_back(sym::Program::compile(extent));
  io.axis_names.resize(type.shape.size());
  return io;
}

Status Build::check_surface() const {
  TRY(require(!network_.outputs().empty() || !request_.shape_outputs.empty(),
              "the network has no output: call markOutput"));
  std::set<std::string_view> names;
  const auto check = [&](std::string_view name, const TensorType& type, std::string_view what) -> Status {
    TRY(require(names.insert(name).second, "two network inputs or outputs are called '", name, "'"));
    return require(type.dtype != DType::kF64, what, " '", name, "' is ", type,
                   ": FP64 is not a type of network inputs and outputs; cast it");
  };
  for (const ir::ValueId id : network_.inputs()) TRY(check(network_.value(id).name, network_.type(id), "input"));
  for (const ir::Output& output : network_.outputs()) TRY(check(output.name, network_.type(output.value), "output"));
  const std::vector<bool> decided = ir::decided_symbols(network_);
  for (const ShapeOutput& output : request_.shape_outputs) {
    TRY(check(output.name, output.type, "output"));
    TRY(require(output.type.values && is_index(output.type.dtype) && output.type.rank() <= 1, "output '", output.name,
                "' is ", output.type, ", whose elements do not follow from shapes"));
    for (const sym::Expr& value : *output.type.values)
      TRY(require(!reads_any(value, decided), "output '", output.name, "' is ", value,
                  ", which data decides: an output for shapes is known before the run. Mark it with markOutput"));
  }
  return {};
}

void Build::describe_surface() {
  const auto describe = [&](const std::string& name, const TensorType& type) {
    plan::IoTensor io = io_tensor(name, type);
    const auto format = request_.surface_formats.find(name);
    if (format != request_.surface_formats.end()) io.format = format->second;
    for (size_t axis = 0; axis < type.shape.size(); ++axis)
      if (type.shape[axis].is_symbol()) io.axis_names[axis] = type.shape[axis].name();
    return io;
  };
  for (const ir::ValueId id : network_.inputs())
    plan_.inputs.push_back(describe(network_.value(id).name, network_.type(id)));
  for (const ir::Output& output : network_.outputs())
    plan_.outputs.push_back(describe(output.name, network_.type(output.value)));
  for (const ShapeOutput& output : request_.shape_outputs) {
    plan::IoTensor& io = plan_.outputs.emplace_back(describe(output.name, output.type));
    io.is_shape = true;
    for (const sym::Expr& value : *output.type.values) io.values.push_back(sym::Program::compile(value));
  }
  for (const sym::Expr& symbol : network_.shared_table()->symbols())
    plan_.symbols.push_back({std::string(symbol.name())});
  for (size_t i = 0; i < network_.inputs().size(); ++i) {
    const TensorType& type = network_.type(network_.inputs()[i]);
    const auto bind = [&](const sym::Expr& e, int axis, int element) {
      if (!e.is_symbol()) return;
      plan::Symbol& symbol = plan_.symbols[static_cast<size_t>(e.symbol_id())];
      if (symbol.input < 0) symbol = {symbol.name, static_cast<int>(i), axis, element};
    };
    for (int axis = 0; axis < type.rank(); ++axis) bind(type.shape[static_cast<size_t>(axis)], axis, -1);
    if (type.values)
      for (size_t k = 0; k < type.values->size(); ++k)
        bind(sym::integer_of((*type.values)[k]), -1, static_cast<int>(k));
  }
  for (const sym::Assumption& assumption : network_.assumptions())
    plan_.guards.push_back(sym::Guard::compile(assumption));
}

Status Build::add_profile(const ProfileRequest& request, Timer& timer, TimingCache& cache) {
  plan::Profile profile;
  profile.ranges = TRY(extent_ranges(network_, request));
  for (const ir::ValueId id : network_.inputs()) {
    const auto found = request.values.find(network_.value(id).name);
    profile.value_ranges.push_back(found == request.values.end() ? plan::InputRange{} : found->second);
  }
  ProfileGraph narrow = TRY(specialize(network_, request));
  ir::Graph& graph = narrow.graph;
  TRY(check_surface_sizes(graph));
  taps_.keep(graph);
  TRY(keep_assertions_on_data(graph));
  TRY(optimize(graph, /*is_body=*/false));
  CoverOptions options;
  if (request_.editable_timing_cache) options.assignments = &cache;
  options.selector = request_.selector;
  options.most_tactics = request_.most_tactics;
  const auto surface_format = [&](const std::string& name) {
    const auto found = surface_formats_.find(name);
    return found == surface_formats_.end() ? Format::linear() : found->second;
  };
  options.surface.is_direct = request_.is_direct_io;
  for (const ir::ValueId id : graph.inputs()) {
    const std::string& name = graph.value(id).name;
    options.surface.inputs[id] = surface_format(name);
    if (const auto formats = direct_formats_.find(name); formats != direct_formats_.end())
      options.surface.direct_inputs.insert({id, formats->second});
  }
  for (const ir::Output& output : graph.outputs()) {
    if (const auto formats = direct_formats_.find(output.name); formats != direct_formats_.end())
      options.surface.direct_outputs.insert({options.surface.outputs.size(), formats->second});
    options.surface.outputs.push_back(surface_format(output.name));
  }
  struct Forward {
    const Build* build;
    static bool call(void* self, int done, int total) {
      return static_cast<const Forward*>(self)->build->progress("Tactics", done, total);
    }
  } forward{this};
  options.progress = &Forward::call;
  options.progress_user = &forward;
  const TacticContext cx{graph, request_.numerics, backend_.device(), request_.optimization_level,
                         !direct_formats_.empty()};
  Cover cover = TRY(cover_graph(cx, backend_, timer, options, log_));
  options.surface = cover.surface;
  keep_formats(graph, cover.surface);
  if (!request_.selector) TRY(add_alternatives(cx, backend_, timer, cover, log_));  // what it chose is for all shapes
  note_libraries(cover);
  order_by_sizes(graph, cover.tiles);
  const int most_aux = backend_.device().is_host() ? 0 : std::min(request_.most_aux_streams, plan::kMaxAuxStreams);
  const auto add_body = [&](const ir::Node& node, size_t body) { return this->add_body(node, body, timer); };
  const PlanTables tables{weights_, binaries_, fixed_sources_, add_body};
  const size_t first_body = plan_.bodies.size();
  if (Status emitted = emit_block(graph, cover, backend_, options, most_aux, tables, profile); !emitted)
    return with_missing_values(std::move(emitted).error(), request);
  if (request_.selector) request_.selector->end_profile();
  for (const plan::Tensor& tensor : profile.tensors)
    if (tensor.place == plan::Place::kArena) TRY(check_size(tensor.name, static_cast<double>(tensor.size_bytes_max)));
  TRY(narrow.guards.add(graph, narrow.bounds));  // what passes, lowering and tactics came to believe
  profile.guards = narrow.guards.compile();
  taps_.take(profile, std::span(plan_.bodies).subspan(first_body));
  plan_.profiles.push_back(std::move(profile));
  return {};
}

/// Says in the plan which formats the cover chose for inputs and outputs; other profiles have the same.
void Build::keep_formats(const ir::Graph& graph, const Surface& surface) {
  const auto keep = [&](std::vector<plan::IoTensor>& tensors, const std::string& name, const Format& format) {
    const auto formats = direct_formats_.find(name);
    if (formats == direct_formats_.end()) return;
    formats->second = {format};
    surface_formats_[name] = format;
    const auto io = std::ranges::find(tensors, name, &plan::IoTensor::name);
    if (io != tensors.end()) io->format = format;
  };
  for (const ir::ValueId id : graph.inputs()) keep(plan_.inputs, graph.value(id).name, surface.input(id));
  for (size_t i = 0; i < graph.outputs().size(); ++i) keep(plan_.outputs, graph.outputs()[i].name, surface.output(i));
}

/// Gives plugins, contractions, and layers that are to have them, bytes by the request's ranges.
Status Build::quantize(ir::Graph& graph) {
  TRY(passes::quantize_plugins(graph, request_.int8_ranges));
  std::vector<passes::LeftInFloat> left;
  TRY(passes::quantize_contractions(graph, request_.int8_ranges, left));
  TRY(passes::quantize_layers(graph, request_.int8_ranges));
  for (const auto& [name, why] : left) {
    log_.verbose("'", name, "' stays in float: ", why);
    left_in_float_[name] = why;
  }
  return {};
}

/// Why a layer whose precision is INT8 reads floats; empty: it reads bytes.
std::string Build::why_in_float(const ir::Graph& graph, ir::NodeId id) const {
  constexpr std::string_view kHow = "is not known; ranges come from setDynamicRange or a calibrator";
  const ir::Node& node = graph.node(id);
  if (!node.op.has(Trait::kContraction)) {
    const auto input = passes::input_without_bytes(graph, id);
    return input ? str("the range of its input '", graph.value(*input).name, "' ", kHow) : "";
  }
  if (graph.producer_as<ops::Dequantize>(node.inputs[0])) return "";
  if (const auto known = left_in_float_.find(node.name); known != left_in_float_.end())
    return str(known->second, "; ranges come from setDynamicRange or a calibrator");
  const bool is_by_constant = graph.constant(node.inputs[1]) && !graph.constant(node.inputs[0]);
  return is_by_constant ? str("the range of its input ", kHow) : "it is no product of a tensor by constant weights";
}

/// Layers whose precision is INT8 and which no range, nor Q/DQ, brought to bytes: an error where a layer's precision
/// is required.
Status Build::check_bytes(const ir::Graph& graph) const {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id)) continue;
    const auto precision = ir::precision_of(graph.node(id));
    if (!precision || precision->type != DType::kI8) continue;
    const std::string why = why_in_float(graph, id);
    if (why.empty()) continue;
    const std::string text =
        str("layer '", graph.node(id).name, "' stays in float though its precision is INT8: ", why);
    if (precision->required) return error(Code::kUnsupported, text);
    request_.warns_of_precisions ? log_.warning(text) : log_.verbose(text);
  }
  return {};
}

/// Leaves layers in FP32 that the ranges say FP16 would overflow in, and warns of those that the program has in FP16.
Status Build::keep_large(ir::Graph& graph) const {
  const passes::LargeNumbers told = TRY(passes::keep_large(graph, request_.half_ranges));
  for (size_t i = 0; i < told.kept.size(); ++i) i < kMostTold ? log_.info(told.kept[i]) : log_.verbose(told.kept[i]);
  if (told.kept.size() > kMostTold) log_.info(told.kept.size() - kMostTold, " more layers stay in FP32");
  for (const std::string& forced : told.forced) log_.warning(forced);
  return {};
}

/// Rewrites a graph and its bodies for the backend.
Status Build::optimize(ir::Graph& graph, bool is_body) {
  passes::PassContext cx{log_};
  cx.strongly_typed = request_.numerics.strongly_typed;
  cx.refittable = request_.refittable;
  cx.is_body = is_body;
  cx.multiplies_bytes = [this](const ir::Graph& g, ir::NodeId id) { return backend_.multiplies_bytes(g, id); };
  cx.multiplies_in_kind = backend_.multiplies_in_kind();
  TRY(passes::run_pipeline(graph, cx));
  if (!request_.int8_ranges.empty()) TRY(quantize(graph));
  if (!request_.half_ranges.empty()) TRY(keep_large(graph));
  if (request_.expand_plugins) TRY(request_.expand_plugins(graph));
  TRY(check_bytes(graph));
  TRY(passes::fold_row_scale(graph, cx));  // whose ranges nobody asks for any more
  passes::SourceUses sources(graph, cx);
  TRY(backend_.lower(graph, request_.numerics));
  sources.recount(graph, "types", cx);
  TRY(passes::run_pipeline(graph, cx));
  fixed_sources_.merge(cx.fixed_sources);
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    for (size_t b = 0; graph.alive(id) && b < graph.node(id).bodies.size(); ++b)
      TRY(in_context(optimize(*graph.node(id).bodies[b], /*is_body=*/true),
                     [&] { return body_name(graph.node(id), b); }));
  }
  TRY(passes::tidy_captures(graph, cx));  // what bodies have come to read less of
  TRY(passes::remove_dead(graph, cx));
  keep_deciders(graph);
  return {};
}

void Build::note_libraries(const Cover& cover) {
  const auto note = [&](const StepDraft& draft) {
    for (const auto& [library, version] : draft.libraries.entries()) plan_.libraries.set(library, version);
  };
  for (const Tile& tile : cover.tiles) {
    note(tile.draft);
    for (const AlternativeTile& other : tile.alternatives) note(other.draft);
  }
}

Result<int> Build::add_body(const ir::Node& node, size_t index, Timer& timer) {
  const ir::Graph& graph = *node.bodies[index];
  const auto where = [&] { return body_name(node, index); };
  const size_t place = plan_.bodies.size();
  plan_.bodies.emplace_back();  // before those within it
  plan::Body body;
  body.name = where();
  CoverOptions options;
  options.selector = request_.selector;
  options.most_tactics = request_.most_tactics;
  for (const ir::ValueId id : graph.inputs()) {
    body.inputs.push_back(io_tensor(graph.value(id).name, graph.type(id)));
    options.surface.inputs[id] = Format::linear();
  }
  for (const ir::Output& output : graph.outputs()) {
    if (!output.name.empty()) body.outputs.push_back(io_tensor(output.name, graph.type(output.value)));
    options.surface.outputs.push_back(Format::linear());
  }
  body.symbols = bound_anew(node, graph);
  for (const sym::Assumption& assumption : graph.assumptions()) body.guards.push_back(sym::Guard::compile(assumption));
  const TacticContext cx{graph, request_.numerics, backend_.device(), request_.optimization_level};
  Cover cover = TRY(in_context(cover_graph(cx, backend_, timer, options, log_), where));
  note_libraries(cover);
  order_by_sizes(graph, cover.tiles);
  const auto add_inner = [&](const ir::Node& inner, size_t i) { return add_body(inner, i, timer); };
  TRY(in_context(emit_block(graph, cover, backend_, options, 0, {weights_, binaries_, fixed_sources_, add_inner}, body),
                 where));
  if (index > 0 && node.op.as<ops::Loop>()) drop_doubled_taps(body, *node.bodies[0]);
  plan_.bodies[place] = std::move(body);
  return static_cast<int>(place);
}

/// Fails for a tensor that is larger than the device's memory: no run could hold it. The build could not time its steps
/// either, since they make tables as long as its axes.
Status Build::check_size(std::string_view name, double size_bytes) const {
  const auto memory = static_cast<double>(backend_.device().total_memory_bytes());
  return require(memory <= 0 || size_bytes <= memory, "tensor '", name, "' takes ", size_bytes,
                 " bytes at most, and the device has ", memory, " in all; narrow the optimization profile's maximum");
}

/// Checks the sizes of the network's inputs and outputs before any work is done; tensors between them are checked only
/// if a step needs them in memory. Extents that are expressions prove nothing: no run need reach their maximum.
Status Build::check_surface_sizes(const ir::Graph& graph) const {
  const auto check = [&](std::string_view name, const TensorType& type) -> Status {
    double bits = bits_of(type.dtype);
    for (const sym::Expr& extent : type.shape) {
      if ((!extent.is_const() && !extent.is_symbol()) || sym::grows_without_bound(extent)) return {};
      bits *= static_cast<double>(extent.max());
    }
    return check_size(name, bits / 8);
  };
  for (const ir::ValueId id : graph.inputs()) TRY(check(graph.value(id).name, graph.type(id)));
  for (const ir::Output& output : graph.outputs()) TRY(check(output.name, graph.type(output.value)));
  return {};
}

/// An error of tensors' sizes, with the shape inputs that the profile has no values of: without them a tensor may be of
/// any size, which is most often the reason.
std::unexpected<Error> Build::with_missing_values(Error error, const ProfileRequest& profile) const {
  ir::Graph copy = network_.clone();  // the question may have to infer
  std::string missing;
  for (const ir::ValueId input : ir::shape_inputs(copy))
    if (const std::string& name = network_.value(input).name; !profile.values.contains(name))
      missing += str(missing.empty() ? "'" : ", '", name, '\'');
  if (!missing.empty())
    error.message += str("; that the profile has no values of the shape input ", missing,
                         " (IOptimizationProfile::setShapeValuesV2) may be the reason");
  return std::unexpected(std::move(error));
}

/// An input is a shape tensor if a program reads the symbol of one of its elements, or if a profile was specialized to
/// its values: other values must not go unnoticed.
void Build::mark_shape_inputs() {
  const auto read = [&](const sym::Program& program) {
    for (const int id : sym::operands_of(program).symbols) {
      const plan::Symbol& symbol = plan_.symbols[static_cast<size_t>(id)];
      if (symbol.element >= 0) plan_.inputs[static_cast<size_t>(symbol.input)].is_shape = true;
    }
  };
  for (const plan::IoTensor& output : plan_.outputs) plan::for_each_program(output, read);
  for (const sym::Guard& guard : plan_.guards) plan::for_each_program(guard, read);
  for (const plan::Profile& profile : plan_.profiles) {
    for (const sym::Guard& guard : profile.guards) plan::for_each_program(guard, read);
    plan::for_each_program(profile, read);
    for (size_t i = 0; i < plan_.inputs.size(); ++i)
      if (!profile.value_ranges[i].min.empty() && network_.type(network_.inputs()[i]).values)
        plan_.inputs[i].is_shape = true;
  }
  for (const plan::Body& body : plan_.bodies) plan::for_each_program(body, read);
}

/// Says who decides what runs in bodies, where that is not the host in any case.
void Build::log_steering() {
  for (const plan::Block* block : plan::blocks_of(plan_))
    for (const plan::Step& step : block->steps)
      if (const std::string text = plan::is_control(step) ? plan::describe_steering(plan_, *block, step) : "";
          !text.empty())
        log_.info("step '", step.name, "': ", text);
}

Result<plan::Plan> Build::run(TimingCache& cache) {
  TRY(check_surface());
  TRY(backend_.device().usable());
  describe_surface();
  plan_.network_name = request_.network_name;
  plan_.device_kind = backend_.name();
  plan_.device_identity = backend_.device().identity();
  TimerOptions timing = request_.timing;
  timing.memory = request_.memory.get();
  Timer timer(backend_.device(), cache, timing, log_);
  std::vector<ProfileRequest> profiles = request_.profiles;
  if (profiles.empty()) profiles.emplace_back();
  for (size_t i = 0; i < profiles.size(); ++i) {
    if (!progress("Profiles", static_cast<int>(i), static_cast<int>(profiles.size())))
      return error(Code::kState, "the build was cancelled by its progress monitor");
    TRY(in_context(add_profile(profiles[i], timer, cache),
                   [&] { return profiles[i].called.empty() ? str("optimization profile ", i) : profiles[i].called; }));
  }
  mark_shape_inputs();
  weights_.fix(network_, fixed_sources_);
  TRY(take_plugin_fields(plan_));
  TRY(in_context(plan::validate(plan_), [] { return "the plan as it was made"; }));
  TRY(measure_workspaces(plan_, backend_.device(), request_.memory.get()));
  log_steering();
  log_.verbose("timed ", timer.num_measured(), " variants, ", timer.num_cached(), " came from the timing cache");
  return std::move(plan_);
}

}  // namespace

Result<plan::Plan> build_plan(const ir::Graph& network, Backend& backend, const BuildRequest& request, Log& log) {
  TimingCache own_cache(backend.device().identity());
  TimingCache& cache = request.timing_cache ? *request.timing_cache : own_cache;
  DebugTaps taps(network);
  if (request.selector) taps.keep_all();  // it is asked once
  for (;;) {
    plan::Plan plan = TRY(Build(network, backend, request, taps, log).run(cache));
    if (!taps.begin_next_build(log)) return plan;
  }
}

}  // namespace kiln
