#include "tensor/named_format.h"

#include <array>

#include "base/str.h"

namespace kiln {
namespace {

struct FormatRow {
  std::string_view name;
  int block;           // 1: unblocked
  bool channels_last;  // else channels stay in front of the image
  int rank;            // 0: the accelerator's
};
/// Rows by TensorFormat's value; kLINEAR fits any rank.
constexpr std::array<FormatRow, 13> kFormats{{{"kLINEAR", 1, false, -1},
                                              {"kCHW2", 2, false, 4},
                                              {"kHWC8", 8, true, 4},
                                              {"kCHW4", 4, false, 4},
                                              {"kCHW16", 16, false, 4},
                                              {"kCHW32", 32, false, 4},
                                              {"kDHWC8", 8, true, 5},
                                              {"kCDHW32", 32, false, 5},
                                              {"kHWC", 1, true, 4},
                                              {"kDLA_LINEAR", 1, false, 0},
                                              {"kDLA_HWC4", 4, true, 0},
                                              {"kHWC16", 16, true, 4},
                                              {"kDHWC", 1, true, 5}}};

std::string number_word(int64_t number) {
  switch (number) {
    case 2: return "Two";
    case 4: return "Four";
    case 16: return "Sixteen";
    case 32: return "Thirty-two";
    default: return str(number);
  }
}

}  // namespace

std::optional<std::string_view> format_name(int number) {
  if (number < 0 || number >= static_cast<int>(kFormats.size())) return std::nullopt;
  return kFormats[static_cast<size_t>(number)].name;
}

Result<Format> named_format(int number, int rank) {
  const FormatRow& row = kFormats[static_cast<size_t>(number)];
  if (row.rank == 0)
    return error(Code::kUnsupported, "format ", row.name, " is for an accelerator that Kiln does not have");
  if (row.rank < 0) return Format::linear();
  if (row.rank != rank)
    return error(Code::kUnsupported, "format ", row.name, " is of tensors of rank ", row.rank, ", this one has rank ",
                 rank);
  const Format order = row.channels_last ? Format::channels_last(rank) : Format::linear();
  return row.block > 1 ? order.blocked(1, row.block) : order;
}

std::optional<int> number_of(const Format& format, int rank) {
  if (format.is_linear()) return 0;
  for (int number = 1; number < static_cast<int>(kFormats.size()); ++number) {
    const Result<Format> candidate = named_format(number, rank);
    if (candidate && *candidate == format) return number;
  }
  return std::nullopt;
}

std::string type_words(DType dtype) {
  switch (dtype) {
    case DType::kF32: return "FP32";
    case DType::kF16: return "FP16";
    case DType::kBF16: return "BFloat16";
    case DType::kF8E4M3: return "FP8";
    case DType::kF4E2M1: return "FP4";
    case DType::kI4: return "Int4";
    case DType::kI8: return "Int8";
    case DType::kI32: return "Int32";
    case DType::kI64: return "Int64";
    case DType::kU8: return "UInt8";
    case DType::kBool: return "BOOL";
    default: return str(dtype);
  }
}

std::string format_words(const Format& format, DType dtype, int rank) {
  const std::string type = type_words(dtype);
  const std::string_view spatial = rank == 5 ? " with 3 spatial dimensions" : "";
  if (format.is_linear()) {
    const bool is_short = dtype == DType::kF32 || dtype == DType::kI32 || dtype == DType::kBool;
    return dtype == DType::kI8 ? "Row major Int8 format" : str("Row major linear ", type, is_short ? "" : " format");
  }
  if (!number_of(format, rank)) return str("Permuted ", type, " format ", format.text());
  if (!format.is_blocked()) return str("Channel major ", type, " format", spatial);
  const bool channels_last = format.axis_at(rank - 1) == format.block_axis();
  if (channels_last) return str("Channel major ", type, " format where channel % ", format.block(), " == 0", spatial);
  return str(number_word(format.block()), " wide channel vectorized row major ", type, " format", spatial);
}

}  // namespace kiln
