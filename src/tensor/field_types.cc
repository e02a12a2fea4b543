#include "tensor/field_types.h"

#include <algorithm>

#include "tensor/view.h"

namespace kiln {
namespace {

constexpr int64_t kShownElements = 8;

Result<std::string> text_of(const Datum& datum, std::string_view what) {
  if (const auto* text = std::get_if<std::string>(&datum.variant())) return *text;
  return error(Code::kCorrupt, datum, " is not ", what);
}

class DTypeFieldType final : public FieldType {
 public:
  Datum to_datum(const void* value) const override { return name_of(at(value)); }
  Status from_datum(void* value, const Datum& datum) const override {
    const std::string text = TRY(text_of(datum, "the name of an element type"));
    const auto dtype = dtype_named(text);
    if (!dtype) return error(Code::kCorrupt, "no element type is called '", text, "'");
    *static_cast<DType*>(value) = *dtype;
    return {};
  }
  void append(std::string& out, const void* value) const override { out += name_of(at(value)); }
  bool equal(const void* a, const void* b) const override { return at(a) == at(b); }

 private:
  static DType at(const void* value) { return *static_cast<const DType*>(value); }
};

class FormatFieldType final : public FieldType {
 public:
  Datum to_datum(const void* value) const override { return at(value).text(); }
  Status from_datum(void* value, const Datum& datum) const override {
    *static_cast<Format*>(value) = TRY(Format::parse(TRY(text_of(datum, "a format"))));
    return {};
  }
  void append(std::string& out, const void* value) const override { out += at(value).text(); }
  bool equal(const void* a, const void* b) const override { return at(a) == at(b); }

 private:
  static const Format& at(const void* value) { return *static_cast<const Format*>(value); }
};

/// A tensor as a record holds it.
struct WrittenTensor {
  DType dtype = DType::kF32;
  Extents extents;
  Bytes data;
  static void reflect(auto& self, auto f) { f("dtype", self.dtype), f("extents", self.extents), f("data", self.data); }
};

class TensorFieldType final : public FieldType {
 public:
  Datum to_datum(const void* value) const override {
    const HostTensor& tensor = at(value);
    return to_record(WrittenTensor{tensor.dtype(), tensor.extents(), {tensor.bytes().begin(), tensor.bytes().end()}});
  }
  Status from_datum(void* value, const Datum& datum) const override {
    const auto* record = std::get_if<Record>(&datum.variant());
    if (!record) return error(Code::kCorrupt, datum, " is not a tensor");
    const WrittenTensor written = TRY(from_record<WrittenTensor>(*record));
    HostTensor::Fresh fresh = TRY(HostTensor::make(written.dtype, written.extents));
    if (written.data.size() != fresh.data.size())
      return error(Code::kCorrupt, "a tensor of ", fresh.data.size(), " bytes has ", written.data.size());
    std::ranges::copy(written.data, fresh.data.begin());
    *static_cast<HostTensor*>(value) = fresh.tensor;
    return {};
  }
  void append(std::string& out, const void* value) const override;
  bool equal(const void* a, const void* b) const override { return at(a) == at(b); }
  Hash128 hash(const void* value) const override { return hash128(at(value)); }

 private:
  static const HostTensor& at(const void* value) { return *static_cast<const HostTensor*>(value); }
};

void TensorFieldType::append(std::string& out, const void* value) const {
  const HostTensor& tensor = at(value);
  kiln::append(out, str(tensor.dtype(), tensor.extents()));
  if (tensor.volume() > kShownElements) return kiln::append(out, "(...)");
  out += '(';
  const View view(tensor);
  for (int64_t i = 0; i < view.volume(); ++i) {
    if (i) out += ", ";
    is_float(view.dtype()) ? kiln::append(out, view[i]) : kiln::append(out, view.integer(i));
  }
  out += ')';
}

}  // namespace

const FieldType& field_type(Tag<DType>) {
  static const DTypeFieldType type;
  return type;
}
const FieldType& field_type(Tag<Format>) {
  static const FormatFieldType type;
  return type;
}
const FieldType& field_type(Tag<HostTensor>) {
  static const TensorFieldType type;
  return type;
}

}  // namespace kiln
