#include "page.h"

#include <optional>

#include "base/hash.h"
#include "html.h"
#include "page_files.h"
#include "plan/json.h"

namespace kiln {
namespace {

/// JSON that no HTML reader takes for markup and no old script reader for a line's end. These characters stand in
/// texts only, where an escape means the same.
std::string harmless(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 16);
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i);
    if (rest[0] == '<' || rest[0] == '>' || rest[0] == '&') {
      out += rest[0] == '<' ? "\\u003c" : rest[0] == '>' ? "\\u003e" : "\\u0026";
    } else if (rest.starts_with("\xe2\x80\xa8") || rest.starts_with("\xe2\x80\xa9")) {
      out += rest[2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += rest[0];
    }
  }
  return out;
}

std::string_view file_named(std::string_view name) {
  for (const PageFile& file : page_files())
    if (file.name == name) return file.text;
  return {};
}

/// What stands for "{{name}}" in page.html; nothing: there is no such part.
std::optional<std::string> part_named(std::string_view name, const Picture& picture, const std::string& json,
                                      const std::string& nonce) {
  if (name == "title") return html_text(picture.title);
  if (name == "nonce") return nonce;
  if (name == "picture") return json;
  if (name == "style") return std::string(file_named("style.css"));
  if (name == "library") return std::string(file_named("dagre.js"));
  if (name != "scripts") return std::nullopt;
  std::string scripts;
  for (const PageFile& file : page_files())
    if (file.name.ends_with(".js") && file.name != "dagre.js" && file.name != "main.js") scripts += file.text;
  return scripts += file_named("main.js");
}

}  // namespace

std::string make_page(const Picture& picture) { return fill_frame(file_named("page.html"), picture); }

std::string fill_frame(std::string_view frame, const Picture& picture) {
  const std::string json = harmless(plan::to_json(picture.record()));
  const Hash128 hash = hash128(json);
  // Scripts run by this number only. What a text smuggled in could not know it, for it is made of all texts.
  const std::string nonce = str("k", hash.low, "x", hash.high);
  std::string page;
  std::string_view rest = frame;
  for (size_t at = rest.find("{{"); at != rest.npos; at = rest.find("{{")) {
    const size_t end = rest.find("}}", at);
    if (end == rest.npos) break;
    const std::string_view name = rest.substr(at + 2, end - at - 2);
    page += rest.substr(0, at);
    page += part_named(name, picture, json, nonce).value_or(str("{{", name, "}}"));
    rest.remove_prefix(end + 2);
  }
  page += rest;
  return page;
}

}  // namespace kiln
