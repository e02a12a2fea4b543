/// Families of kernels as tables: a kernel's struct points at its family's row, and its record has the row's name.
#pragma once

#include "base/field.h"

namespace kiln {

/// Rows with a `name`. A kernel's header declares `field_type(Tag<const Row*>)`, which returns one of these.
template <class Row>
class FamilyFieldType final : public FieldType {
 public:
  explicit FamilyFieldType(std::span<const Row* const> rows) : rows_(rows) {}
  Datum to_datum(const void* value) const override { return std::string(row(value)->name); }
  Status from_datum(void* value, const Datum& datum) const override {
    const auto* name = std::get_if<std::string>(&datum.variant());
    for (const Row* each : rows_)
      if (name && each->name == *name) return *static_cast<const Row**>(value) = each, Status();
    return error(Code::kCorrupt, datum, " is not a family of kernels");
  }
  void append(std::string& out, const void* value) const override { out += row(value)->name; }
  bool equal(const void* a, const void* b) const override { return row(a) == row(b); }

 private:
  static const Row* row(const void* value) { return *static_cast<const Row* const*>(value); }

  std::span<const Row* const> rows_;
};

}  // namespace kiln
