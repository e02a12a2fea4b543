#include "sym/field_types.h"

#include <climits>

#include "sym/text.h"

namespace kiln::sym {
namespace {

class ExprsFieldType final : public FieldType {
 public:
  Datum to_datum(const void* value) const override {
    Datum::List texts;
    for (const Expr& e : at(value)) texts.push_back(Datum(exact_text(e)));
    return texts;
  }
  Status from_datum(void*, const Datum&) const override {
    return error(Code::kUnsupported, "it holds expressions, which records do not restore");
  }
  void append(std::string& out, const void* value) const override {
    out += '[';
    for (size_t i = 0; i < at(value).size(); ++i) {
      if (i) out += ", ";
      append_exact(out, at(value)[i]);
    }
    out += ']';
  }
  bool equal(const void* a, const void* b) const override { return at(a) == at(b); }

 private:
  static const std::vector<Expr>& at(const void* value) { return *static_cast<const std::vector<Expr>*>(value); }
};

}  // namespace

const FieldType& field_type(Tag<std::vector<Expr>>) {
  static const ExprsFieldType type;
  return type;
}

const FieldType& field_type(Tag<Program>) {
  using Words = std::vector<int64_t>;
  static const ConvertedFieldType<Program, Words> type(
      [](const Program& program) { return Words(program.words().begin(), program.words().end()); },
      [](const Words& words) { return Program::from_words(words, INT_MAX); });
  return type;
}

}  // namespace kiln::sym
