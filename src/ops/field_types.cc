#include "ops/field_types.h"

namespace kiln {
namespace {

class OpFieldType final : public FieldType {
 public:
  Datum to_datum(const void* value) const override { return at(value) ? to_record(at(value)) : Record(); }
  Status from_datum(void* value, const Datum& datum) const override {
    const auto* record = std::get_if<Record>(&datum.variant());
    if (!record) return error(Code::kCorrupt, datum, " is not an op");
    if (!record->empty()) *static_cast<Op*>(value) = TRY(op_from_record(*record));
    return {};
  }
  void append(std::string& out, const void* value) const override {
    at(value) ? kiln::append(out, at(value)) : kiln::append(out, "none");
  }
  bool equal(const void* a, const void* b) const override { return at(a) == at(b); }
  Hash128 hash(const void* value) const override { return at(value) ? hash128(at(value)) : Hash128(); }

 private:
  static const Op& at(const void* value) { return *static_cast<const Op*>(value); }
};

}  // namespace

const FieldType& field_type(Tag<Op>) {
  static const OpFieldType type;
  return type;
}

}  // namespace kiln
