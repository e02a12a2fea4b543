#include "layer_files.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/counted.h"
#include "base/field.h"

namespace kiln {
namespace {

/// The text of an entry; nothing where there is none.
std::string text_of(const Record& record, std::string_view name) {
  const Datum* found = record.find(name);
  const auto* text = found ? std::get_if<std::string>(&found->variant()) : nullptr;
  return text ? *text : std::string();
}

std::span<const Datum> list_of(const Record& record, std::string_view name) {
  const Datum* found = record.find(name);
  const auto* list = found ? std::get_if<Datum::List>(&found->variant()) : nullptr;
  return list ? std::span<const Datum>(*list) : std::span<const Datum>();
}

Extents extents_of(const Record& tensor) {
  Extents extents;
  for (const Datum& extent : list_of(tensor, "Dimensions"))
    if (const auto* number = std::get_if<int64_t>(&extent.variant())) extents.push_back(*number);
  return extents;
}

/// TensorRT parts the layers that a layer came from by the characters of record and unit separators.
std::vector<std::string> origins_of(const std::string& metadata) {
  std::vector<std::string> origins;
  for (size_t at = 0; at < metadata.size();) {
    const size_t end = std::min(metadata.find_first_of("\x1e\x1f", at), metadata.size());
    if (end > at) origins.push_back(metadata.substr(at, end - at));
    at = end + 1;
  }
  return origins;
}

/// The profile of a name of TensorRT's: 2 of "conv1 [profile 2]", 0 where there is none.
int profile_of(std::string_view name) {
  constexpr std::string_view kMark = "[profile ";
  const size_t at = name.find(kMark);
  if (at == name.npos) return 0;
  const std::string_view rest = name.substr(at + kMark.size());
  int profile = 0;
  const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), profile);
  return failed == std::errc() && end != rest.data() + rest.size() && *end == ']' && profile > 0 ? profile : 0;
}

/// The name of a layer, which an inspector tells as a text or as an object.
std::string name_of(const Datum& layer) {
  const auto* name = std::get_if<std::string>(&layer.variant());
  return name ? *name : text_of(std::get<Record>(layer.variant()), "Name");
}

/// What a list of JSON is that trtexec writes and that tells nothing of layers; empty: not known.
std::string_view other_report(const Datum& file) {
  const auto* list = std::get_if<Datum::List>(&file.variant());
  const auto* first = list && !list->empty() ? std::get_if<Record>(&(*list)[0].variant()) : nullptr;
  if (!first) return {};
  if (first->find("latencyMs") || first->find("computeMs"))
    return "times of whole runs, as trtexec --exportTimes writes them; those of layers are in the file of "
           "--exportProfile";
  if (first->find("values") && first->find("dimensions"))
    return "values of outputs, as trtexec --exportOutput writes them";
  return {};
}

/// The layers of what an inspector or trtexec has told.
Result<Datum::List> layers_of(const Datum& file) {
  const auto* record = std::get_if<Record>(&file.variant());
  if (record && record->find("Layers")) return Datum::List(TRY(record->get_list("Layers")).get());
  if ((record && record->find("Name")) || std::holds_alternative<std::string>(file.variant())) return Datum::List{file};
  const auto* list = std::get_if<Datum::List>(&file.variant());
  const std::string_view other = other_report(file);
  const auto tells_layer = [](const Datum& entry) {
    const auto* layer = std::get_if<Record>(&entry.variant());
    return layer ? layer->find("Name") != nullptr : std::holds_alternative<std::string>(entry.variant());
  };
  if (list && !list->empty() && other.empty() && tells_layer(list->front())) return *list;
  return error(Code::kInvalidArgument,
               "no layer information: an object with \"Layers\" is needed, as trtexec --exportLayerInfo writes it",
               other.empty() ? "" : "; these are ", other);
}

/// Puts layers into blocks by the body that each names, and finds tensors by name.
class Reader {
 public:
  explicit Reader(Picture& picture) : picture_(picture) { picture_.blocks.emplace_back(); }

  void add(const Datum& layer) {
    const auto number = str(picture_.steps.size() + 1);
    picture_.layers.push_back(layer);
    if (const auto* name = std::get_if<std::string>(&layer.variant())) {
      picture_.steps.push_back(
          {.name = *name, .number = number, .inputs = {}, .outputs = {}, .bodies = {}, .origins = {}, .steered = {}});
      return;
    }
    const Record& record = std::get<Record>(layer.variant());
    const std::string name = text_of(record, "Name");
    const int block = block_named(text_of(record, "Body"));
    DrawnStep step{.name = name,
                   .number = number,
                   .block = block,
                   .inputs = {},
                   .outputs = {},
                   .bodies = {},
                   .origins = origins_of(text_of(record, "Metadata")),
                   .steered = {}};
    step.inputs = tensors_of(record, "Inputs", block);
    step.outputs = tensors_of(record, "Outputs", block);
    for (const int id : step.outputs) tensor(block, id).place = "layer";
    picture_.steps.push_back(std::move(step));
  }

  /// Tells which tensors come from outside and which are results: in the network those that are bound, where the file
  /// says which are; else those that no layer writes, and those that none reads. Fails where a tensor is a view of
  /// itself by way of others.
  Status finish(const std::set<std::string>& bound) {
    std::vector<std::vector<const DrawnStep*>> steps(picture_.blocks.size());
    for (const DrawnStep& step : picture_.steps) steps[static_cast<size_t>(step.block)].push_back(&step);
    for (size_t b = 0; b < picture_.blocks.size(); ++b) {
      DrawnBlock& block = picture_.blocks[b];
      TRY(check_views(block));
      std::vector<bool> written(block.tensors.size()), read(block.tensors.size());
      for (const DrawnStep* step : steps[b]) {
        for (const int id : step->outputs) written[static_cast<size_t>(id)] = true;
        for (const int id : step->inputs) read[static_cast<size_t>(id)] = true;
      }
      for (const DrawnTensor& view : block.tensors)  // who has a view of a tensor has the tensor
        if (view.parent >= 0) written[static_cast<size_t>(view.parent)] = read[static_cast<size_t>(view.parent)] = true;
      for (size_t t = 0; t < block.tensors.size(); ++t) {
        const bool knows = b == 0 && !bound.empty(), is_bound = knows && bound.contains(block.tensors[t].name);
        if (block.tensors[t].parent >= 0) written[t] = true;
        if (!written[t] && (!knows || is_bound))
          block.inputs.push_back(static_cast<int>(t)), block.tensors[t].place = "input";
        if (knows ? is_bound && written[t] : !read[t])
          block.outputs.push_back(static_cast<int>(t)), block.tensors[t].place = "output";
      }
    }
    return {};
  }

 private:
  /// Whoever follows views to what they are views of has to come to an end.
  static Status check_views(const DrawnBlock& block) {
    std::vector<int> followed_from(block.tensors.size(), -1);  // the tensor from which one was reached first
    for (int first = 0; first < static_cast<int>(block.tensors.size()); ++first)
      for (int id = first; id >= 0; id = block.tensors[static_cast<size_t>(id)].parent) {
        int& from = followed_from[static_cast<size_t>(id)];
        if (from == first) {  // it has a parent then, as all of a circle
          const DrawnTensor& tensor = block.tensors[static_cast<size_t>(id)];
          return error(Code::kInvalidArgument, "tensor '", tensor.name,
                       "' is a view of itself: \"ViewOf\" leads from it to '",
                       block.tensors[static_cast<size_t>(tensor.parent)].name,
                       "' and back; a view is needed that ends at a tensor with memory of its own");
        }
        if (from >= 0) break;  // the rest of the way is known to end
        from = first;
      }
    return {};
  }

  DrawnTensor& tensor(int block, int id) {
    return picture_.blocks[static_cast<size_t>(block)].tensors[static_cast<size_t>(id)];
  }

  /// A body follows the layer that has it, whose name its own has in quotes.
  int block_named(const std::string& name) {
    if (name.empty()) return 0;
    const auto [known, is_new] = bodies_.emplace(name, static_cast<int>(picture_.blocks.size()));
    if (!is_new) return known->second;
    DrawnBlock body;
    body.name = name;
    for (size_t s = picture_.steps.size(); s-- > 0 && body.around < 0;)
      if (name.find(str('\'', picture_.steps[s].name, '\'')) != name.npos) body.around = static_cast<int>(s);
    if (body.around >= 0) picture_.steps[static_cast<size_t>(body.around)].bodies.push_back(known->second);
    picture_.blocks.push_back(std::move(body));
    return known->second;
  }

  int tensor_named(int block, const std::string& name) {
    std::vector<DrawnTensor>& tensors = picture_.blocks[static_cast<size_t>(block)].tensors;
    const auto [known, is_new] = names_[block].emplace(name, static_cast<int>(tensors.size()));
    if (is_new) tensors.push_back({.name = name, .place = "layer", .type = {}, .extents = {}, .root = known->second});
    return known->second;
  }

  std::vector<int> tensors_of(const Record& layer, std::string_view which, int block) {
    std::vector<int> ids;
    for (const Datum& entry : list_of(layer, which)) {
      const auto* record = std::get_if<Record>(&entry.variant());
      const int id = tensor_named(block, record ? text_of(*record, "Name") : str(entry));
      ids.push_back(id);
      if (!record) continue;
      if (const std::string whole = text_of(*record, "ViewOf"); !whole.empty() && whole != text_of(*record, "Name"))
        tensor(block, id).parent = tensor_named(block, whole);
      tensor(block, id).extents = extents_of(*record);
      tensor(block, id).type = text_of(*record, record->find("Format/Datatype") ? "Format/Datatype" : "Datatype");
    }
    return ids;
  }

  Picture& picture_;
  std::map<std::string, int> bodies_;
  std::map<int, std::map<std::string, int>> names_;  ///< by block: its tensors
};

}  // namespace

bool is_profile(const Datum& file) {
  const auto* list = std::get_if<Datum::List>(&file.variant());
  const auto* first = list && !list->empty() ? std::get_if<Record>(&(*list)[0].variant()) : nullptr;
  return first && (first->find("count") || first->find("averageMs"));
}

Result<ProfileTimes> read_profile(const Datum& file) {
  TRY(require(is_profile(file),
              "no profile: a list is needed that begins with {\"count\": ...}, as trtexec "
              "--exportProfile writes it"));
  ProfileTimes times;
  const auto& list = std::get<Datum::List>(file.variant());
  for (size_t i = 0; i < list.size(); ++i) {
    const auto* entry = std::get_if<Record>(&list[i].variant());
    TRY(require(entry != nullptr, "entry ", i, " of the profile is ", list[i], "; an object is needed"));
    if (entry->find("count")) {
      times.num_runs = TRY(in_context(entry->get_int("count"), [&] { return str("entry ", i, " of the profile"); }));
      continue;
    }
    ProfileTimes::Layer layer;
    layer.name = TRY(in_context(entry->get_text("name"), [&] { return str("entry ", i, " of the profile"); }));
    const char* key = entry->find("medianMs") ? "medianMs" : "averageMs";
    layer.ms = TRY(in_context(entry->get_double(key), [&] { return str("layer '", layer.name, "' of the profile"); }));
    constexpr double kLongest = 1e15;  // some 30,000 years: sums of many stay numbers
    TRY(require(layer.ms >= 0 && layer.ms < kLongest, "layer '", layer.name, "' of the profile: ", key, " is ",
                layer.ms, "; a time is not negative, and less than ", kLongest, " ms"));
    times.layers.push_back(std::move(layer));
  }
  return times;
}

Result<Picture> read_layer_info(const Datum& file, int profile) {
  const Datum::List layers = TRY(layers_of(file));
  Picture picture;
  Reader reader(picture);
  bool any_details = false;
  std::set<int> others;
  size_t num_others = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    const Datum& layer = layers[i];
    const auto* details = std::get_if<Record>(&layer.variant());
    TRY(require(details || std::holds_alternative<std::string>(layer.variant()), "layer ", i, " is ", layer,
                "; a name or an object is needed"));
    if (details) TRY(in_context(details->get_text("Name"), [&] { return str("layer ", i); }));
    if (const int of = profile_of(name_of(layer)); of != profile) {
      others.insert(of);
      ++num_others;
      continue;
    }
    any_details |= details != nullptr;
    reader.add(layer);
  }
  std::string known;
  for (const int other : others) known += str(known.empty() ? "; it has those of profile " : ", ", other);
  TRY(require(!picture.steps.empty() || (others.empty() && profile == 0), "the file has no layers of profile ", profile,
              others.empty() ? "; it has none at all" : known));
  const auto* record = std::get_if<Record>(&file.variant());
  std::set<std::string> bound;
  for (const Datum& binding : record ? list_of(*record, "Bindings") : std::span<const Datum>()) {
    const auto* name = std::get_if<std::string>(&binding.variant());
    if (!name || profile_of(*name) != profile) continue;
    bound.insert(*name);
    picture.facts.push_back({"Binding", *name});
  }
  TRY(reader.finish(bound));
  if (!any_details && !picture.steps.empty())
    picture.notes.emplace_back(
        "The file has the names of layers only: build with --profilingVerbosity=detailed for tensors and tactics.");
  picture.notes.emplace_back("Layer information does not say where tensors lie in memory.");
  if (num_others > 0)
    picture.notes.push_back(str("The file has ", counted(num_others, "layer"), " of other profiles; --useProfile=",
                                *others.begin(), " shows those of profile ", *others.begin(), "."));
  return picture;
}

Picture picture_of(const ProfileTimes& times) {
  Picture picture;
  picture.blocks.emplace_back();
  for (const ProfileTimes::Layer& layer : times.layers) {
    picture.layers.emplace_back(layer.name);
    picture.steps.push_back({.name = layer.name,
                             .number = str(picture.steps.size() + 1),
                             .inputs = {},
                             .outputs = {},
                             .bodies = {},
                             .origins = {},
                             .steered = {}});
  }
  picture.notes.emplace_back("A profile has times only: show the engine's layer information or plan for the rest.");
  return picture;
}

Status add_times(const ProfileTimes& times, Picture& picture) {
  std::map<std::string_view, std::vector<double>> by_name;
  for (const ProfileTimes::Layer& layer : times.layers) by_name[layer.name].push_back(layer.ms);
  std::map<std::string_view, std::vector<DrawnStep*>> steps;
  for (DrawnStep& step : picture.steps)
    if (by_name.contains(step.name)) steps[step.name].push_back(&step);
  TRY(require(!steps.empty() || picture.steps.empty(), "the profile has ", counted(times.layers.size(), "layer"),
              ", none of which is called as a layer of the engine; it is of another one"));
  size_t shared = 0;
  for (const auto& [name, of_name] : steps) {
    const std::vector<double>& found = by_name[name];
    double all = 0;
    for (const double ms : found) all += ms;
    const bool one_each = found.size() == of_name.size();
    for (size_t i = 0; i < of_name.size(); ++i)
      of_name[i]->ms = one_each ? found[i] : all / static_cast<double>(of_name.size());
    if (!one_each) shared += of_name.size();
  }
  const std::string runs = times.num_runs > 0 ? str(" of ", counted(times.num_runs, "run")) : std::string();
  picture.times = str("from a profile", runs);
  if (shared > 0)
    picture.notes.push_back(str(shared, " layers share their name, and so their time in the profile, with others."));
  const size_t strangers = by_name.size() - steps.size();
  if (strangers > 0)
    picture.notes.push_back(str("The profile has times of ", counted(strangers, "layer"), " not among these."));
  return {};
}

}  // namespace kiln
