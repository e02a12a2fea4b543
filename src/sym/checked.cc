#include "sym/checked.h"

#include <utility>

#include "sym/real.h"

namespace kiln::sym {

std::string_view name_of(Kind kind) {
  static constexpr std::string_view kNames[] = {"const", "symbol", "sum",  "prod",      "max",      "min",
                                                "sub",   "equal",  "less", "floor_div", "ceil_div", "invalid"};
  static constexpr std::string_view kRealNames[] = {"real",     "whole",    "real_sum",     "real_prod",
                                                    "real_div", "real_pow", "real_function"};
  if (kind == Kind::kWithin) return "within";
  if (is_real_operation(kind)) return kRealNames[std::to_underlying(kind) - std::to_underlying(Kind::kReal)];
  return kNames[std::to_underlying(kind)];
}

std::unexpected<Error> fault_error(Fault fault, Kind operation, int64_t a, int64_t b) {
  if (fault == Fault::kNotANumber) {
    if (operation == Kind::kRealFunction)
      return error(Code::kInvalidArgument, name_of(static_cast<RealFunction>(b)), "(", real_text(a),
                   ") is not a number");
    return error(Code::kInvalidArgument, name_of(operation), "(", real_text(a), ", ", real_text(b),
                 ") is not a number");
  }
  if (fault == Fault::kOutside) return error(Code::kInvalidArgument, "index ", a, " is outside [0, ", b, ")");
  return error(Code::kInvalidArgument, name_of(operation), "(", a, ", ", b, ") ",
               fault == Fault::kZeroDivisor ? "divides by zero" : "overflows int64");
}

}  // namespace kiln::sym
