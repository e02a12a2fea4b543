#include "ops/op.h"

namespace kiln {
namespace ops {
#define OP(name) struct name;
#include "ops/ops.def"
#undef OP
}  // namespace ops

std::span<const OpInfo* const> all_ops() {
  static const OpInfo* const kAll[] = {
#define OP(name) &op_info<ops::name>(),
#include "ops/ops.def"
#undef OP
  };
  return kAll;
}

const OpInfo* find_op(std::string_view name) {
  for (const OpInfo* info : all_ops())
    if (info->name == name) return info;
  return nullptr;
}

void append(std::string& out, const Op& op) {
  out += op.name();
  if (!op.info().fields.empty()) append_fields(out, op.info().fields, op.data());
}

Op substitute(const Op& op, std::span<const std::pair<sym::Expr, sym::Expr>> replacements) {
  std::shared_ptr<void> data;
  for (const Field& field : op.info().fields) {
    if (!holds<std::vector<sym::Expr>>(field)) continue;
    if (!data) data = op.info().clone(op.data());
    auto& exprs = *static_cast<std::vector<sym::Expr>*>(field.in(data.get()));
    for (sym::Expr& e : exprs) e = sym::substitute(e, replacements);
  }
  return data ? Op(op.info(), std::move(data)) : op;
}

void collect_symbols(const Op& op, std::vector<sym::Expr>& out) {
  for (const Field& field : op.info().fields) {
    if (!holds<std::vector<sym::Expr>>(field)) continue;
    for (const sym::Expr& e : *static_cast<const std::vector<sym::Expr>*>(field.in(op.data()))) collect_symbols(e, out);
  }
}

Hash128 hash128(const Op& op) { return combine(hash128(op.name()), fields_hash(op.info().fields, op.data())); }

namespace {

struct WrittenOp {
  std::string op;
  Record attributes;
  static void reflect(auto& self, auto f) { f("op", self.op), f("attributes", self.attributes); }
};

}  // namespace

Record to_record(const Op& op) {
  return to_record(WrittenOp{std::string(op.name()), fields_record(op.info().fields, op.data())});
}

Result<Op> op_from_record(const Record& record) {
  const WrittenOp written = TRY(from_record<WrittenOp>(record));
  const OpInfo* info = find_op(written.op);
  if (!info) return error(Code::kVersion, "no op is called '", written.op, "'; the plan is of another version of Kiln");
  std::shared_ptr<void> data = info->make_default();
  TRY(in_context(set_fields(info->fields, data.get(), written.attributes), [&] { return str("op ", written.op); }));
  return Op(*info, std::move(data));
}

}  // namespace kiln
