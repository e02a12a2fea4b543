#include "kiln/diff/report_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/counted.h"

namespace kiln::diff {
namespace {

constexpr size_t kMostListed = 10;
constexpr size_t kLongestName = 80, kLongestInTable = 44;

std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

std::string row_of(const TensorDiff& diff, bool isolated) {
  std::string row = padded(diff.a.number, 8) + padded(short_name(diff.a.name(), kLongestInTable), 32) +
                    padded(str(diff.a_type, diff.extents), 26);
  if (!diff.skipped.empty()) return str(row, "not compared: ", diff.skipped, "\n");
  row += padded(number_text(diff.total.max_abs), 11) + padded(number_text(diff.total.relative()), 11) +
         padded(number_text(diff.total.mean_abs()), 11) + padded(number_text(diff.total.cosine(), "%.6f"), 10);
  if (isolated) row += padded(diff.own ? number_text(diff.own->relative()) : std::string("-"), 11);
  row += notes_of(diff);
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

/// "'y'", "'y' and 2 more".
std::string shown_text(const std::vector<std::string>& names) {
  const std::string first = str("'", short_name(names[0], kLongestName), "'");
  return names.size() == 1 ? first : str(first, " and ", names.size() - 1, " more");
}

std::string hidden_text(const Report& report, bool all) {
  std::string text;
  size_t listed = 0, inside = 0;
  for (const Hidden& hidden : report.hidden) {
    inside += !hidden.inside.empty();
    if (hidden.inside.empty() || (!all && listed++ >= kMostListed)) continue;
    text += str("  '", short_name(hidden.b.name(), kLongestName), "': see step ", hidden.number, " '",
                short_name(hidden.inside, kLongestName), "', which shows ", shown_text(hidden.shows), "\n");
  }
  const size_t gone = report.hidden.size() - inside;
  std::string result;
  if (inside > 0)
    result += str("not found in a by name: ", counted(inside, "tensor"),
                  " of b, which a step keeps inside or shows under another name",
                  inside > kMostListed && !all ? ", the first ten (--verbose lists all)" : "", "\n", text);
  if (gone > 0)
    result += str("not there in a: ", counted(gone, "tensor"),
                  " of b, which were folded into constants, shapes or other layers\n");
  if (!report.without_counterpart.empty())
    result += str("without a counterpart in b: ", counted(report.without_counterpart.size(), "tensor"), " of a\n");
  if (all)
    for (const Spot& spot : report.without_counterpart) result += str("  ", place_text(spot), "\n");
  return result;
}

std::string compared_text(const Report& report) {
  const int64_t all = std::ssize(report.tensors), compared = report.num_compared();
  if (compared == all) return str("all ", counted(all, "tensor"), " compared");
  return str("the ", compared, " compared of ", counted(all, "tensor"));
}

std::string verdict_text(const Report& report) {
  std::string text;
  if (const TensorDiff* first = report.first_outside())
    text += str("first outside the tolerance: ", place_text(first->a), ": off by ",
                error_text(first->total, first->extents), "; ", text_of(first->tolerance), " is allowed\n");
  else
    text += str(compared_text(report), report.num_compared() == 1 ? " is" : " are", " within the tolerance, ",
                text_of(report.tolerance), "\n");
  if (const std::string missing = missing_text(report); !missing.empty()) text += str("INCOMPLETE: ", missing, "\n");
  size_t listed = 0;
  for (const TensorDiff* faulty : report.faulty())
    if (listed++ < kMostListed) text += str(fault_text(*faulty), "\n");
  if (listed > kMostListed) text += str("and ", listed - kMostListed, " more\n");
  if (report.isolated && listed == 0 && report.first_outside())
    text += "no layer is at fault by itself: errors of several add up\n";
  for (const TensorDiff& diff : report.tensors)
    if (const std::string overflow = overflow_text(diff); !overflow.empty())
      text += str("overflow: ", place_text(diff.a), ": ", overflow, "\n");
  return text;
}

}  // namespace

std::string number_text(double number, const char* format) {
  char text[40];
  std::snprintf(text, sizeof text, format, std::isnan(number) ? NAN : number);
  return text;
}

std::string notes_of(const TensorDiff& diff) {
  std::string notes;
  const auto note = [&](const auto&... parts) { notes += str(notes.empty() ? "" : ", ", parts...); };
  if (!diff.within) note("outside");
  if (!diff.own_within) note("at fault");
  if (diff.total.broken > 0) note(diff.total.broken, " not finite on one side only");
  if (diff.total.same_not_finite() > 0)
    note(diff.total.same_not_finite(), " of ", diff.total.count, " not finite in both");
  if (diff.overflowed > 0) note(diff.overflowed, " overflow FP16");
  if (diff.overflowed == 0 && diff.total.beyond_half > 0) note(diff.total.beyond_half, " beyond FP16");
  if (diff.in_levels) note("in levels of bytes");
  if (diff.by == MatchedBy::kOrigin) note("matched by layers");
  if (diff.runs_a > 1 || diff.runs_b > 1) {
    note("run ", diff.worst_run + 1, " of ", diff.runs_a);
    if (diff.runs_a != diff.runs_b) note(diff.runs_b, " in b");
    if (diff.runs_compared < diff.runs_a) note(diff.runs_compared, " compared");
    if (diff.runs_not_finite > 0) note(diff.runs_not_finite, " without a finite number");
    if (diff.runs_refused > 0) note(diff.runs_refused, " not compared, the first since ", diff.refusal);
  }
  if (!diff.not_fed.empty()) note("'", short_name(diff.not_fed[0], kLongestInTable), "' was a's own");
  return notes;
}

std::string short_name(const std::string& name, size_t most) {
  if (name.size() <= most) return name;
  size_t at = name.size() - most;
  while (at < name.size() && (static_cast<unsigned char>(name[at]) & 0xc0) == 0x80) ++at;  // within a character
  return "\u2026" + name.substr(at);
}

std::string place_text(const Spot& spot) {
  const std::string layer = short_name(spot.layer, kLongestName);
  std::string text = str("'", short_name(spot.name(), kLongestName), "' of ");
  text += spot.number.empty() ? str("'", layer, "'") : str("step ", spot.number, " '", layer, "'");
  return spot.body.empty() ? text : str(text, " in the ", spot.body);
}

std::string element_text(int64_t position, const Extents& extents) {
  Extents at(extents.size(), 0);
  for (size_t axis = extents.size(); axis-- > 0;) {
    at[axis] = extents[axis] > 0 ? position % extents[axis] : 0;
    position /= std::max<int64_t>(extents[axis], 1);
  }
  return str(at);
}

std::string fault_text(const TensorDiff& faulty) {
  const std::string what = str(place_text(faulty.a), ": off by ", error_text(*faulty.own, faulty.extents));
  if (faulty.not_fed.empty()) return str("at fault by itself: ", what, " on b's inputs");
  return str("at fault: ", what, "; or else what makes its input '", short_name(faulty.not_fed[0], kLongestName),
             "', which was a's own, for b has none");
}

std::string error_text(const Errors& errors, const Extents& extents) {
  if (errors.worst < 0) return "nothing";
  const std::string where = str(" at ", element_text(errors.worst, extents), " (", number_text(errors.worst_a, "%.6g"),
                                " instead of ", number_text(errors.worst_b, "%.6g"), ")");
  if (errors.broken > 0) return str(counted(errors.broken, "number"), " finite on one side only, the first", where);
  return str(number_text(errors.max_abs), where, ", ", number_text(errors.relative()), " of the largest, ",
             number_text(errors.largest, "%.6g"));
}

std::string missing_text(const Report& report) {
  std::string text;
  if (const int64_t count = report.num_not_finite(); count > 0) {
    const auto first = std::ranges::find_if(report.tensors, [](const auto& diff) { return diff.runs_not_finite > 0; });
    text = str(counted(count, "tensor"), count == 1 ? " has" : " have",
               " no finite number in a or b, which shows nothing of a's error; the first is ", place_text(first->a));
  }
  if (report.not_kept > 0)
    text += str(text.empty() ? "" : "; ", counted(report.not_kept, "tensor"), report.not_kept == 1 ? " was" : " were",
                " left out, or not compared in every run, for want of memory (", "--keep)");
  return text;
}

std::string overflow_text(const TensorDiff& diff) {
  if (diff.overflowed == 0) return {};
  std::string text =
      str(counted(diff.overflowed, "number"), " of ", diff.total.count, diff.runs_a > 1 ? " a run" : "",
          " left FP16's range, 65504; the largest true one is ", number_text(diff.largest_overflowed, "%.6g"));
  if (diff.runs_a <= 1 && diff.total.worst_overflowed >= 0)
    text += str(" at ", element_text(diff.total.worst_overflowed, diff.extents));
  return text;
}

std::string text_of(const Report& report, bool all) {
  std::string text = str("a: ", report.a, "\nb: ", report.b, "\ninputs: ", report.inputs, "\n\n");
  text += padded("step", 8) + padded("tensor", 32) + padded("in a", 26) + padded("max abs", 11) +
          padded("of largest", 11) + padded("mean abs", 11) + padded("cosine", 10) +
          (report.isolated ? padded("own", 11) : std::string()) + "\n";
  for (const TensorDiff& diff : report.tensors) text += row_of(diff, report.isolated);
  return str(text, "\n", hidden_text(report, all), verdict_text(report));
}

}  // namespace kiln::diff
