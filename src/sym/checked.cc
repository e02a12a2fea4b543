#include "sym/checked.h"

#include <utility>

namespace kiln::sym {

std::string_view name_of(Kind kind) {
  static constexpr std::string_view kNames[] = {"const", "symbol", "sum",  "prod",      "max",      "min",
                                                "sub",   "equal",  "less", "floor_div", "ceil_div", "invalid"};
  return kNames[std::to_underlying(kind)];
}

std::unexpected<Error> fault_error(Fault fault, Kind operation, int64_t a, int64_t b) {
  return error(Code::kInvalidArgument, name_of(operation), "(", a, ", ", b, ") ",
               fault == Fault::kZeroDivisor ? "divides by zero" : "overflows int64");
}

}  // namespace kiln::sym
