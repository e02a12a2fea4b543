#include "base/str.h"

#include <charconv>

namespace kiln {
namespace {
template <class T>
void append_chars(std::string& out, T value) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
}
}  // namespace

void append_signed(std::string& out, int64_t value) { append_chars(out, value); }
void append_unsigned(std::string& out, uint64_t value) { append_chars(out, value); }
void append_double(std::string& out, double value) { append_chars(out, value); }

}  // namespace kiln
