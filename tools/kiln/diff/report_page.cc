#include "kiln/diff/report_page.h"

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "kiln/diff/report_text.h"
#include "kiln/html.h"

namespace kiln::diff {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1d2430; --quiet: #68707d; --line: #d9dde3; --paper: #ffffff;
  --total: #3b6fb6; --own: #2a9d8f; --bad: #c8442f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --quiet: #98a1ae; --line: #39414d; --paper: #171b21;
  --total: #7aa7e6; --own: #5cc8ba; --bad: #f08670; } }
body { font: 14px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 1280px; padding: 0 1rem; }
h1 { font-size: 1.3rem; font-weight: 600; margin: 0 0 .5rem; }
p { margin: .2rem 0; } .quiet { color: var(--quiet); } .bad { color: var(--bad); }
figure { margin: 1.5rem 0; overflow-x: auto; }
svg text { font: 11px system-ui, sans-serif; fill: var(--quiet); } svg .grid { stroke: var(--line); }
svg .limit { stroke: var(--bad); stroke-dasharray: 5 4; fill: none; } svg .total { fill: var(--total); }
svg .own { fill: var(--own); } svg .outside { fill: var(--bad); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--quiet); font-weight: 500; } td.number, th.number { text-align: right; }
td { overflow-wrap: anywhere; } td.type, td.number { white-space: nowrap; }
td div { max-height: 4.5em; overflow: hidden; }
)";

/// The chart: a bar a tensor, in the order of the run, over powers of ten of the error against the largest number.
class Chart {
 public:
  explicit Chart(const Report& report) : report_(report) {
    for (const TensorDiff& diff : report.tensors)
      if (diff.skipped.empty()) bars_.push_back(&diff);
    width_ = kLeft + std::max<double>(1100, 9 * static_cast<double>(bars_.size())) + 10;
  }

  std::string svg() const {
    std::string text = str("<svg role=\"img\" aria-label=\"error by layer\" width=\"", width_, "\" height=\"", kHeight,
                           "\" viewBox=\"0 0 ", width_, " ", kHeight, "\">\n");
    for (int power = kLeast; power <= kMost; power += 2)
      text +=
          str("<line class=\"grid\" x1=\"", kLeft, "\" x2=\"", width_, "\" y1=\"", y(power), "\" y2=\"", y(power),
              "\"/><text x=\"", kLeft - 8, "\" y=\"", y(power) + 4, "\" text-anchor=\"end\">1e", power, "</text>\n");
    for (size_t i = 0; i < bars_.size(); ++i) text += bar(i);
    if (report_.tolerance.relative > 0) {
      const double at = y(std::log10(report_.tolerance.relative));
      text += str("<line class=\"limit\" x1=\"", kLeft, "\" x2=\"", width_, "\" y1=\"", at, "\" y2=\"", at,
                  "\"><title>the tolerance, ", html_text(text_of(report_.tolerance)), "</title></line>\n");
    }
    return str(text, "<text x=\"", kLeft, "\" y=\"", kHeight - 8,
               "\">tensors in the order in which a makes them</text>\n", "</svg>\n");
  }

 private:
  static constexpr int kLeast = -9, kMost = 1;
  static constexpr double kLeft = 52, kTop = 14, kHeight = 300, kFoot = 30;

  /// The height of a power of ten; what is beyond the scale stands at its end.
  static double y(double power) {
    const double share = (std::clamp<double>(power, kLeast, kMost) - kLeast) / (kMost - kLeast);
    return std::round((kHeight - kFoot - share * (kHeight - kFoot - kTop)) * 10) / 10;
  }
  static double power_of(const Errors& errors) {
    if (errors.broken > 0) return kMost;
    return errors.max_abs == 0 ? kLeast : std::log10(errors.relative());
  }

  std::string bar(size_t i) const {
    const TensorDiff& diff = *bars_[i];
    const double slot = (width_ - kLeft - 10) / static_cast<double>(bars_.size());
    const double left = kLeft + slot * static_cast<double>(i), wide = std::clamp(slot * 0.7, 2.0, 24.0);
    const auto rectangle = [&](std::string_view kind, const Errors& errors, double from, double width) {
      const double top = y(power_of(errors)), foot = y(kLeast);
      return str("<rect class=\"", kind, "\" x=\"", std::round(from * 10) / 10, "\" width=\"",
                 std::round(width * 10) / 10, "\" y=\"", std::min(top, foot - 1), "\" height=\"",
                 std::max(foot - top, 1.0), "\"/>");
    };
    std::string text =
        str("<g><title>", html_text(place_text(diff.a)), "\noff by ", html_text(error_text(diff.total, diff.extents)),
            diff.own ? str("\nits own: ", html_text(error_text(*diff.own, diff.extents))) : std::string(), "</title>");
    text += rectangle(diff.within ? "total" : "outside", diff.total, left, wide);
    if (diff.own) text += rectangle("own", *diff.own, left + wide * 0.3, wide * 0.4);
    return text + "</g>\n";
  }

  const Report& report_;
  std::vector<const TensorDiff*> bars_;
  double width_;
};

std::string cell(std::string_view text, bool is_number = false) {
  return str("<td", is_number ? " class=\"number\"" : "", ">", html_text(text), "</td>");
}

/// A name, of which three lines are shown, and the rest in the tip.
std::string name_cell(std::string_view text) {
  return str("<td title=\"", html_text(text), "\"><div>", html_text(text), "</div></td>");
}

std::string row(const TensorDiff& diff, bool isolated) {
  std::string text = str("<tr>", cell(diff.a.number), name_cell(diff.a.name()), name_cell(diff.a.layer),
                         "<td class=\"type\">", html_text(str(diff.a_type, diff.extents)), "</td>");
  if (!diff.skipped.empty())
    return str(text, "<td colspan=\"", isolated ? 6 : 5, "\">", html_text(str("not compared: ", diff.skipped)),
               "</td></tr>\n");
  text += str(cell(number_text(diff.total.max_abs), true), cell(number_text(diff.total.relative()), true),
              cell(number_text(diff.total.mean_abs()), true), cell(number_text(diff.total.cosine()), true));
  if (isolated) text += cell(diff.own ? number_text(diff.own->relative()) : std::string("-"), true);
  std::string notes = notes_of(diff);
  if (const std::string overflow = overflow_text(diff); !overflow.empty())
    notes += str(notes.empty() ? "" : "; ", overflow);
  return str(text, "<td class=\"bad\">", html_text(notes), "</td></tr>\n");
}

std::string summary(const Report& report) {
  const auto line = [](std::string_view kind, const auto&... parts) {
    return str("<p class=\"", kind, "\">", html_text(str(parts...)), "</p>\n");
  };
  std::string text;
  if (const TensorDiff* first = report.first_outside())
    text += line("bad", "First outside the tolerance: ", place_text(first->a), ", off by ",
                 error_text(first->total, first->extents), ".");
  else
    text += line("", "Within the tolerance: ", report.num_compared(), " of ",
                 counted(std::ssize(report.tensors), "tensor"), " that both have.");
  if (const std::string missing = missing_text(report); !missing.empty())
    text += line("bad", "Incomplete: ", missing, ".");
  for (const TensorDiff* faulty : report.faulty()) text += line("bad", "Found ", fault_text(*faulty), ".");
  const auto inside = std::ranges::count_if(report.hidden, [](const Hidden& one) { return !one.inside.empty(); });
  if (inside > 0)
    text += line("quiet", counted(inside, "tensor"),
                 " of b not found in a by name: a step keeps each inside, or shows it under another name.");
  return text;
}

}  // namespace

std::string page_of(const Report& report) {
  std::string text =
      str("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>kiln diff</title>\n<style>", kStyle,
          "</style></head><body>\n<h1>kiln diff</h1>\n");
  for (const auto& [name, value] :
       {std::pair<std::string_view, const std::string&>("a", report.a), {"b", report.b}, {"inputs", report.inputs}})
    text += str("<p class=\"quiet\">", name, ": ", html_text(value), "</p>\n");
  text += summary(report);
  text += str("<figure>", Chart(report).svg(),
              "<figcaption class=\"quiet\">The largest error of each tensor against its largest "
              "number",
              report.isolated ? "; narrow bars: its own, on b's inputs" : "",
              ". The dashed line is the tolerance. Hover a bar for its numbers.</figcaption></figure>\n");
  text +=
      "<table><thead><tr><th>step</th><th>tensor</th><th>layer</th><th>in a</th><th class=\"number\">max abs</th>"
      "<th class=\"number\">of largest</th><th class=\"number\">mean abs</th><th class=\"number\">cosine</th>";
  text += report.isolated ? "<th class=\"number\">own</th><th></th></tr></thead><tbody>\n"
                          : "<th></th></tr></thead><tbody>\n";
  for (const TensorDiff& diff : report.tensors) text += row(diff, report.isolated);
  return text + "</tbody></table>\n</body></html>\n";
}

}  // namespace kiln::diff
