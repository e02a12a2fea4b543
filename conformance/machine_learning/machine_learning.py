#!/usr/bin/env python3
"""Operators of ai.onnx.ml that converters of scikit-learn and of boosted trees write, against ONNX Runtime.

usage: machine_learning.py RUN_NETWORKS TRTEXEC [NAME...] [--keep FOLDER] [-- FLAG...]

RUN_NETWORKS runs all data sets of a model in one engine; FLAGs are its own. TRTEXEC tells by which tactics an engine runs:
none may be the reference. 77, for skipped, where packages or a GPU are missing.
"""
import os
import sys
import zlib

try:
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, helper
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from model_runs import bounds_of, compare, engine_layers, peaks_of, write_model  # noqa: E402

TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int32): TensorProto.INT32, np.dtype(np.int64): TensorProto.INT64}
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
NAN = float("nan")


class Case:
    """One node of ai.onnx.ml. Outputs are FLOAT, and what is called "labels" INT64."""

    def __init__(self, op, inputs, outputs=("y",), version=3, result=TensorProto.FLOAT, **attributes):
        self.inputs = inputs
        node = helper.make_node(op, list(inputs), outputs, name=op, domain="ai.onnx.ml", **attributes)
        infos = [helper.make_tensor_value_info(name, TYPES[value.dtype], value.shape) for name, value in inputs.items()]
        results = [helper.make_tensor_value_info(name, TensorProto.INT64 if name == "labels" else result, None) for name in outputs]
        graph = helper.make_graph([node], op, infos, results)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", version)]
        self.model = helper.make_model(graph, opset_imports=opsets, ir_version=8)


def normal(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def floats(array):
    return [float(each) for each in np.ravel(array)]


def scaler(count, rows=(6,), integers=False):
    def make(rng):
        x = rng.integers(-9, 9, (*rows, 5)) if integers else normal(rng, *rows, 5)
        return Case("Scaler", {"x": x}, offset=floats(normal(rng, count)), scale=floats(normal(rng, count)))
    return make


def normalizer(norm, rows=(6,), integers=False):
    def make(rng):
        x = rng.integers(-9, 9, (*rows, 5)) if integers else normal(rng, *rows, 5)
        if rows:
            x[1] = 0
        return Case("Normalizer", {"x": x}, norm=norm)
    return make


def imputer(replaced, count=5):
    def make(rng):
        x = normal(rng, 6, 5)
        x[rng.random((6, 5)) < 0.4] = replaced
        return Case("Imputer", {"x": x}, imputed_value_floats=floats(normal(rng, count)), replaced_value_float=replaced)
    return make


def integer_imputer(rng):
    return Case("Imputer", {"x": rng.integers(0, 3, (6, 4))}, imputed_value_int64s=[2**40, 7, -8, 9], replaced_value_int64=1,
                result=TensorProto.INT64)


def vectorizer(*dimensions):
    def make(rng):
        inputs = {f"x{i}": normal(rng, 4, 3) for i in range(len(dimensions))}
        return Case("FeatureVectorizer", inputs, inputdimensions=dimensions)
    return make


def encoder(keys, values, version=2, **attributes):
    def make(rng):
        integers = np.asarray(keys).dtype.kind == "i"
        x = np.array(keys, np.int64 if integers else np.float32)[rng.integers(0, len(keys), (3, 4))] + rng.integers(0, 2, (3, 4))
        to_integers = np.asarray(values).dtype.kind == "i"
        attributes["keys_int64s" if integers else "keys_floats"] = keys
        attributes["values_int64s" if to_integers else "values_floats"] = values
        return Case("LabelEncoder", {"x": x.astype(np.int64 if integers else np.float32)}, version=version,
                    result=TensorProto.INT64 if to_integers else TensorProto.FLOAT, **attributes)
    return make


def one_hot(values, **attributes):
    def make(rng):
        x = np.array(values)[rng.integers(0, len(values), (3, 4))]
        return Case("OneHotEncoder", {"x": x if x.dtype == np.int64 else x.astype(np.float32)}, cats_int64s=[5, -3, 7], **attributes)
    return make


def shares(rng, rows, columns, features):
    """Coefficients and rows whose products are between 0.05 and 0.45, which PROBIT wants."""
    x, w = rng.random((rows, features)).astype(np.float32), rng.random((columns, features)).astype(np.float32)
    return x, 0.05 + 0.4 * w / w.sum(axis=1, keepdims=True)


def linear_regressor(targets, transform="NONE", intercepts=True):
    def make(rng):
        x, w = shares(rng, 7, targets, 5)
        attributes = {"intercepts": floats(rng.random(targets) / 20)} if intercepts else {}
        return Case("LinearRegressor", {"x": x}, coefficients=floats(w), targets=targets, post_transform=transform, **attributes)
    return make


def linear_classifier(rows, transform="NONE", labels=None):
    def make(rng):
        x, w = shares(rng, 9, rows, 5)
        if transform != "PROBIT":
            x, w = normal(rng, 9, 5), normal(rng, rows, 5)
        return Case("LinearClassifier", {"x": x}, outputs=("labels", "y"), coefficients=floats(w), intercepts=floats(rng.random(rows) / 20),
                    classlabels_ints=labels or [3, -7, 5, 2**40][:max(rows, 2)], post_transform=transform)
    return make


class Forest:
    """Random trees as the lists of TreeEnsembleRegressor and TreeEnsembleClassifier."""

    def __init__(self, rng, trees, depth, features=4, modes=("BRANCH_LEQ",), share=1.0, missing=False):
        self.rng, self.features, self.modes, self.share = rng, features, modes, share
        self.nodes, self.leaves = [], []
        for tree in range(trees):
            self.numbers = 0
            self.grow(tree, depth)
        names = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")
        self.attributes = {"nodes_" + name: [node[i] for node in self.nodes] for i, name in enumerate(names)}
        if missing:
            self.attributes["nodes_missing_value_tracks_true"] = [int(each) for each in rng.integers(0, 2, len(self.nodes))]

    def grow(self, tree, depth):
        """Adds a subtree, and returns its root's number."""
        number = self.numbers
        self.numbers += 1
        place = len(self.nodes)
        self.nodes.append(None)
        if depth == 0 or self.rng.random() > self.share:
            self.nodes[place] = (tree, number, 0, 0.0, "LEAF", 0, 0)
            self.leaves.append((tree, number))
            return number
        split = float(np.float32(self.rng.integers(-2, 3) if self.modes != ("BRANCH_LEQ",) else self.rng.standard_normal()))
        mode = self.modes[self.rng.integers(len(self.modes))]
        feature = int(self.rng.integers(self.features))
        self.nodes[place] = (tree, number, feature, split, mode, self.grow(tree, depth - 1), self.grow(tree, depth - 1))
        return number

    def weights(self, prefix, ids, positive=False):
        """A weight of each leaf for each of some targets or classes."""
        entries = [(tree, node, each) for tree, node in self.leaves for each in ids]
        weights = self.rng.standard_normal(len(entries))
        self.attributes.update({prefix + "_treeids": [tree for tree, _, _ in entries], prefix + "_nodeids": [node for _, node, _ in entries],
                                prefix + "_ids": [each for _, _, each in entries],
                                prefix + "_weights": floats(np.abs(weights) if positive else weights)})
        return self.attributes


ALL_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


def features_of(rng, forest, missing):
    x = normal(rng, 11, forest.features)
    if forest.modes != ("BRANCH_LEQ",):
        x = np.round(x)
    if missing:
        x[rng.random(x.shape) < 0.3] = NAN
    return x


def regressor(trees, depth, targets=1, base=False, missing=False, **others):
    forest_of = {name: others.pop(name) for name in ("modes", "share") if name in others}

    def make(rng):
        forest = Forest(rng, trees, depth, missing=missing, **forest_of)
        attributes = forest.weights("target", range(targets))
        if base:
            attributes["base_values"] = floats(normal(rng, targets))
        return Case("TreeEnsembleRegressor", {"x": features_of(rng, forest, missing)}, n_targets=targets, **attributes, **others)
    return make


def classifier(trees, depth, labels, ids=None, base=0, positive=False, missing=False, integers=False, **others):
    def make(rng):
        forest = Forest(rng, trees, depth, missing=missing)
        attributes = forest.weights("class", range(len(labels)) if ids is None else ids, positive)
        if positive:
            attributes["class_weights"] = [each / trees / 2 for each in attributes["class_weights"]]
        if base:
            attributes["base_values"] = floats(normal(rng, base))
        x = features_of(rng, forest, missing)
        return Case("TreeEnsembleClassifier", {"x": (3 * x).astype(np.int64) if integers else x}, outputs=("labels", "y"),
                    classlabels_int64s=labels, **attributes, **others)
    return make


def vectors(rng, kernel, count, features=4):
    attributes = {"support_vectors": floats(normal(rng, count, features)), "kernel_type": kernel}
    return {**attributes, "kernel_params": [0.3, 0.2, 3.0]}


def svm_regressor(kernel, **others):
    def make(rng):
        return Case("SVMRegressor", {"x": normal(rng, 9, 4)}, n_supports=12, coefficients=floats(normal(rng, 12)),
                    rho=[0.3], **vectors(rng, kernel, 12), **others)
    return make


def svm_classifier(kernel, per_class, transform="NONE", probabilities=False):
    def make(rng):
        classes, count = len(per_class), sum(per_class)
        pairs = classes * (classes - 1) // 2
        sigmoids = {"prob_a": floats(-rng.random(pairs) - 0.5), "prob_b": floats(normal(rng, pairs) / 9)} if probabilities else {}
        return Case("SVMClassifier", {"x": normal(rng, 9, 4)}, outputs=("labels", "y"), vectors_per_class=per_class,
                    coefficients=floats(normal(rng, classes - 1, count)), rho=floats(normal(rng, pairs)),
                    classlabels_ints=[4, 2, 9, -1][:classes], post_transform=transform, **vectors(rng, kernel, count), **sigmoids)
    return make


MODELS = {
    "scaler": scaler(5),
    "scaler_one": scaler(1),
    "scaler_row": scaler(5, rows=()),
    "scaler_integers": scaler(5, integers=True),
    "normalizer_max": normalizer("MAX"),
    "normalizer_l1": normalizer("L1"),
    "normalizer_l2": normalizer("L2"),
    "normalizer_row": normalizer("L2", rows=()),
    "normalizer_integers": normalizer("L1", integers=True),
    "imputer": imputer(NAN),
    "imputer_one": imputer(NAN, 1),
    "imputer_number": imputer(2.5),
    "imputer_integers": integer_imputer,
    "vectorizer": vectorizer(3, 3),
    "vectorizer_cut": vectorizer(2, 5, 3),
    "encoder": encoder([5, 7, -3], [70, 80, 2**40]),
    "encoder_floats": encoder([5, 7, -3], [0.5, 0.25, -8.0], default_float=9.5),
    "encoder_of_floats": encoder([0.5, 7.0, -3.0], [4, 5, 6], default_int64=-9),
    "encoder_twice": encoder([5, 5, 7], [1, 2, 3]),
    "encoder_nan": encoder([NAN, 5.0], [4, 5], version=4),
    "one_hot": one_hot([5, 7, -3, 4]),
    "one_hot_floats": one_hot([5.0, 7.0, -3.0, 4.0]),
    "one_hot_strict": one_hot([5, 7, -3], zeros=0),
    "linear_regressor": linear_regressor(1),
    "linear_regressor_probit": linear_regressor(1, "PROBIT"),
    "linear_regressor_plain": linear_regressor(3, intercepts=False),
    **{f"linear_regressor_{name.lower()}_3": linear_regressor(3, name) for name in TRANSFORMS},
    **{f"linear_classifier_{name.lower()}_{rows}": linear_classifier(rows, name) for name in TRANSFORMS for rows in (1, 2, 4)
       if rows > 1 or name != "PROBIT"},
    "linear_classifier_in_order": linear_classifier(3, labels=[0, 1, 2]),
    "tree": regressor(1, 3),
    "forest": regressor(9, 5, targets=3, base=True),
    "forest_modes": regressor(9, 4, modes=ALL_MODES, missing=True),
    "forest_average": regressor(9, 5, aggregate_function="AVERAGE", base=True),
    "forest_min": regressor(9, 5, targets=2, aggregate_function="MIN"),
    "forest_max": regressor(9, 5, aggregate_function="MAX", base=True),
    "forest_large": regressor(40, 8, targets=2, base=True),
    "forest_large_modes": regressor(40, 6, modes=ALL_MODES, missing=True),
    "forest_large_average": regressor(30, 9, aggregate_function="AVERAGE", share=0.9, missing=True),
    "forest_leaves": regressor(3, 0),
    "forest_softmax": regressor(9, 4, targets=3, post_transform="SOFTMAX"),
    "classes": classifier(9, 4, [4, -5, 6]),
    "classes_softmax": classifier(9, 4, [0, 1, 2], base=3, post_transform="SOFTMAX"),
    "classes_logistic": classifier(60, 5, [4, -5, 6], missing=True, post_transform="LOGISTIC"),
    "classes_unused": classifier(2, 3, [4, -5, 6], ids=(1, 2)),
    "classes_integers": classifier(9, 4, [4, -5, 6], integers=True),
    "two_shares": classifier(9, 4, [4, 5], ids=(0,), positive=True),
    "two_mixed": classifier(9, 4, [4, 5], ids=(0,)),
    "two_logistic": classifier(60, 4, [4, 5], ids=(0,), base=1, post_transform="LOGISTIC"),
    "two_shares_logistic": classifier(9, 4, [4, 5], ids=(0,), positive=True, post_transform="LOGISTIC"),
    **{f"svm_regressor_{kernel.lower()}": svm_regressor(kernel) for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID")},
    "svm_one_class": svm_regressor("RBF", one_class=1),
    **{f"svm_classifier_{kernel.lower()}": svm_classifier(kernel, [3, 4, 2, 3]) for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID")},
    "svm_classifier_softmax": svm_classifier("RBF", [3, 4, 2], "SOFTMAX"),
    "svm_probabilities": svm_classifier("RBF", [3, 4, 2, 3], probabilities=True),
    "svm_probabilities_two": svm_classifier("RBF", [3, 4], probabilities=True),
    "svm_probabilities_softmax": svm_classifier("LINEAR", [3, 4, 2], "SOFTMAX", probabilities=True),
    "svm_classifier_two": svm_classifier("RBF", [3, 4]),
    "svm_classifier_two_logistic": svm_classifier("RBF", [3, 4], "LOGISTIC"),
    "svm_classifier_two_softmax": svm_classifier("LINEAR", [3, 4], "SOFTMAX"),
}


def write(folder, name):
    case = MODELS[name](np.random.default_rng(zlib.crc32(name.encode())))
    session = onnxruntime.InferenceSession(case.model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, case.inputs)))
    if not all(np.isfinite(array).all() for array in outputs.values()):
        raise ValueError(f"{name}: ONNX Runtime's {outputs} cannot be compared")
    data_sets = [(case.inputs, outputs)]
    bounds = {output: bounds_of(0 if output == "labels" else peak, 2e-5) for output, peak in peaks_of(data_sets).items()}
    write_model(folder, case.model, data_sets, bounds)


def fault_of(trtexec, folder, name):
    found = [layer["Name"] for layer in engine_layers(trtexec, folder) if layer["TacticName"].startswith("reference")]
    return f"by reference: {found}" if found else None


if __name__ == "__main__":
    sys.exit(compare(__doc__, MODELS, write, fault_of))
