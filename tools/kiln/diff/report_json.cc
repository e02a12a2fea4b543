#include "kiln/diff/report_json.h"

#include "cli/json.h"

namespace kiln::diff {
namespace {

using cli::json_number;
using cli::json_string;

/// An object or a list, written from its front to its back.
class Writer {
 public:
  explicit Writer(char closes) : closes_(closes), text_(1, closes == '}' ? '{' : '[') {}
  void raw(std::string_view value) { text_ += str(text_.size() > 1 ? ", " : "", value); }
  void raw(std::string_view name, std::string_view value) { raw(str(json_string(name), ": ", value)); }
  void text(std::string_view name, std::string_view value) { raw(name, json_string(value)); }
  void number(std::string_view name, double value) { raw(name, json_number(value)); }
  void integer(std::string_view name, int64_t value) { raw(name, str(value)); }
  void flag(std::string_view name, bool value) { raw(name, value ? "true" : "false"); }
  std::string done() && { return text_ + closes_; }

 private:
  char closes_;
  std::string text_;
};

std::string strings_of(const std::vector<std::string>& texts) {
  Writer list(']');
  for (const std::string& text : texts) list.raw(json_string(text));
  return std::move(list).done();
}

void add_spot(Writer& object, const Spot& spot) {
  object.text("tensor", spot.name());
  object.text("layer", spot.layer);
  object.text("step", spot.number);
  object.text("body", spot.body);
  object.raw("from", strings_of(spot.origins));
}

std::string errors_json(const Errors& errors) {
  Writer object('}');
  object.integer("elements", errors.count);
  object.number("max_abs", errors.max_abs);
  object.number("relative", errors.relative());
  object.number("mean_abs", errors.mean_abs());
  object.number("cosine", errors.cosine());
  object.number("largest", errors.largest);
  object.integer("at", errors.worst);
  object.number("a", errors.worst_a);
  object.number("b", errors.worst_b);
  object.integer("broken", errors.broken);
  object.integer("not_finite", errors.same_not_finite());
  object.integer("nan_a", errors.nan_a), object.integer("inf_a", errors.inf_a);
  object.integer("nan_b", errors.nan_b), object.integer("inf_b", errors.inf_b);
  object.integer("beyond_fp16", errors.beyond_half);
  return std::move(object).done();
}

std::string tensor_json(const TensorDiff& diff) {
  constexpr std::string_view kBy[] = {"name", "alias", "layers"};
  Writer object('}');
  add_spot(object, diff.a);
  object.text("tensor_b", diff.b.name());
  object.text("layer_b", diff.b.layer);
  object.text("matched_by", kBy[static_cast<size_t>(diff.by)]);
  object.text("type_a", name_of(diff.a_type)), object.text("type_b", name_of(diff.b_type));
  object.raw("extents", str(diff.extents));
  object.integer("runs_a", diff.runs_a), object.integer("runs_b", diff.runs_b);
  if (!diff.skipped.empty()) {
    object.text("not_compared", diff.skipped);
    return std::move(object).done();
  }
  object.integer("worst_run", diff.worst_run), object.integer("runs_compared", diff.runs_compared);
  object.integer("runs_not_finite", diff.runs_not_finite), object.integer("runs_refused", diff.runs_refused);
  object.text("refusal", diff.refusal);
  object.flag("within", diff.within);
  object.number("limit", diff.tolerance.limit(diff.total));
  object.raw("total", errors_json(diff.total));
  object.raw("own", diff.own ? errors_json(*diff.own) : "null");
  object.flag("own_within", diff.own_within);
  object.raw("not_fed", strings_of(diff.not_fed));
  object.integer("overflowed", diff.overflowed);
  object.number("largest_overflowed", diff.largest_overflowed);
  return std::move(object).done();
}

}  // namespace

std::string json_of(const Report& report) {
  Writer object('}');
  object.text("a", report.a), object.text("b", report.b), object.text("inputs", report.inputs);
  Writer tolerance('}');
  tolerance.number("relative", report.tolerance.relative), tolerance.number("absolute", report.tolerance.absolute);
  object.raw("tolerance", std::move(tolerance).done());
  object.flag("isolated", report.isolated);
  const TensorDiff* first = report.first_outside();
  object.raw("first_outside", first ? json_string(first->a.name()) : std::string("null"));
  std::vector<std::string> faulty;
  for (const TensorDiff* diff : report.faulty()) faulty.push_back(diff->a.name());
  object.raw("faulty", strings_of(faulty));
  Writer tensors(']'), hidden(']'), unmatched(']');
  for (const TensorDiff& diff : report.tensors) tensors.raw(str("\n", tensor_json(diff)));
  for (const Hidden& one : report.hidden) {
    Writer item('}');
    add_spot(item, one.b);
    item.text("inside", one.inside), item.text("inside_step", one.number);
    item.raw("inside_shows", strings_of(one.shows));
    hidden.raw(str("\n", std::move(item).done()));
  }
  for (const Spot& spot : report.without_counterpart) {
    Writer item('}');
    add_spot(item, spot);
    unmatched.raw(str("\n", std::move(item).done()));
  }
  object.raw("tensors", std::move(tensors).done());
  object.raw("hidden", std::move(hidden).done());
  object.raw("without_counterpart", std::move(unmatched).done());
  object.integer("num_compared", report.num_compared());
  object.integer("num_not_compared", std::ssize(report.tensors) - report.num_compared());
  object.integer("num_not_finite", report.num_not_finite());
  object.integer("not_kept", report.not_kept);
  object.flag("complete", report.is_complete());
  return std::move(object).done() + "\n";
}

}  // namespace kiln::diff
