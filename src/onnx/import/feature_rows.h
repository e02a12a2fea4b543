/// What the operators of ai.onnx.ml share: rows of features, attributes that are lists of floats, and class labels.
#pragma once

#include "onnx/import/compose.h"

namespace kiln::onnx {

/// Input 0 as floats: FLOAT and DOUBLE as they are, INT32 and INT64 as FP32.
Result<ValueId> features(ImportContext& cx);
/// The same as [rows, features]. One axis is one row.
Result<ValueId> feature_rows(ImportContext& cx);
/// The same in FP32: a linear model's outputs are FLOAT whatever its input is.
Result<ValueId> single_rows(ImportContext& cx);

/// The floats of an attribute. `need_floats` fails where there is none or it is empty.
Result<std::vector<double>> get_floats(ImportContext& cx, std::string_view attribute);
Result<std::vector<double>> need_floats(ImportContext& cx, std::string_view attribute);
/// The numbers of an attribute of floats, or of the tensor that attribute "..._as_tensor" has in its place.
Result<std::vector<double>> floats_or_tensor(ImportContext& cx, std::string_view attribute);
/// The numbers of a tensor attribute; empty where it is absent.
Result<std::vector<double>> tensor_numbers(ImportContext& cx, std::string_view attribute);

/// The extents of `count` numbers that broadcast with x: one for all, or one for each element of its last axis. Fails
/// where there are others; `what` names them.
Result<Extents> extents_of_numbers(ImportContext& cx, ValueId x, size_t count, std::string_view what);
/// Such numbers, of x's type.
Result<ValueId> for_each_feature(ImportContext& cx, ValueId x, const std::vector<double>& numbers,
                                 std::string_view what);

/// The labels of a classifier, which are integers: there are no strings in Kiln.
Result<Ints> class_labels(ImportContext& cx, std::string_view of_ints, std::string_view of_strings);
/// The label of the greatest score of each row, i64 [rows]; of equal scores, that of the first.
Result<ValueId> top_labels(ImportContext& cx, ValueId scores, const Ints& labels);
/// The second label where a condition, bool [rows, 1], holds, else the first; i64 [rows].
Result<ValueId> either_label(ImportContext& cx, ValueId is_second, const Ints& labels);

}  // namespace kiln::onnx
