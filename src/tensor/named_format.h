/// The formats that TensorRT has names for, and its words for them. The number of a name is its enumerator's value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tensor/dtype.h"
#include "tensor/format.h"

namespace kiln {

/// "kLINEAR", ...; nothing for a number that is none.
std::optional<std::string_view> format_name(int number);

/// The format that stores tensors of rank `rank` as the name says. All but kLINEAR are of images (rank 4) or volumes
/// (rank 5); fails for another rank, and for the accelerator's formats, whose rows are padded. `number` has a name.
Result<Format> named_format(int number, int rank);

/// The number of the name of a tensor's order in memory; nothing where it has none.
std::optional<int> number_of(const Format& format, int rank);

/// TensorRT's name for the type. Programs search for these words, so they must stay as they are, irregular ones too.
std::string type_words(DType dtype);

/// TensorRT's words for a tensor's order and type: "Row major linear FP32". Programs compare them whole.
std::string format_words(const Format& format, DType dtype, int rank);

}  // namespace kiln
