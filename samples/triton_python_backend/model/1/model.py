"""Kiln behind Triton's Python backend: runs model.plan, or builds model.onnx, of the folder that this file is in.

Triton starts a process for each instance of the model, which makes a TritonPythonModel. Parameters of config.pbtxt:
`plan` and `onnx` name the file, `mapped` says whether a plan stays in its file, and `precision` and
`optimization_level` are for a build.
"""

import json
import pathlib

import numpy as np
import triton_python_backend_utils as pb_utils

import kiln


def _parameters(config):
    return {name: value["string_value"] for name, value in config.get("parameters", {}).items()}


class _RowsError(RuntimeError):
    """An output has other rows than the inputs."""


class TritonPythonModel:
    """An engine, called with lists of Triton's requests."""

    def initialize(self, args):
        """Loads or builds the engine. Raises where it does not fit config.pbtxt, and Triton says why."""
        config = json.loads(args["model_config"])
        self._name = args["model_name"]
        self._most_rows = config.get("max_batch_size", 0)
        self._device = f"cuda:{args['model_instance_device_id']}" if args["model_instance_kind"] == "GPU" else "cpu"
        folder = pathlib.Path(args["model_repository"]) / args["model_version"]
        self._engine = self._make_engine(folder, config, _parameters(config))
        self._outputs = [tensor.name for tensor in self._engine.outputs]
        self._served = {given["name"] for given in config["output"]}  # of the engine's outputs, those that clients see
        self._check(config)
        if self._most_rows:
            self._check_rows()

    def _make_engine(self, folder, config, parameters):
        plan, model = folder / parameters.get("plan", "model.plan"), folder / parameters.get("onnx", "model.onnx")
        if plan.exists():
            mapped = parameters.get("mapped", "false")
            if mapped not in ("true", "false"):
                raise pb_utils.TritonModelException(
                    f"model {self._name!r}: parameter mapped is {mapped!r}; it may be true or false"
                )
            return kiln.load(plan, device=self._device, mapped=mapped == "true", name=self._name)
        if not model.exists():
            raise pb_utils.TritonModelException(f"model {self._name!r}: there is neither {plan} nor {model}")
        level = parameters.get("optimization_level")
        if level not in (None, *"012345"):
            raise pb_utils.TritonModelException(
                f"model {self._name!r}: parameter optimization_level is {level!r}; it may be from 0 to 5"
            )
        return kiln.compile(
            str(model),
            shapes=self._shapes(config),
            precision=parameters.get("precision"),
            optimization_level=None if level is None else int(level),
            device=self._device,
            progress=False,
            name=self._name,
        )

    def _shapes(self, config):
        """The ranges that config.pbtxt knows: the batch from 1 to its maximum. Other open extents want a plan."""
        shapes = {}
        for given in config["input"]:
            dims = [int(extent) for extent in given["dims"]]
            if -1 in dims:
                raise pb_utils.TritonModelException(
                    f"model {self._name!r}: input {given['name']!r} has open extents {dims}, and config.pbtxt has no "
                    "range for them: build a plan with kiln.compile(shapes=...) and put it beside model.py"
                )
            most = self._most_rows
            shapes[given["name"]] = [(1, *dims), (most, *dims), (most, *dims)] if most else tuple(dims)
        return shapes

    def _check(self, config):
        """Compares config.pbtxt with the engine: what is wrong there would be told by each request else."""
        for kind, tensors in (("input", self._engine.inputs), ("output", self._engine.outputs)):
            known = {tensor.name: tensor for tensor in tensors}
            for given in config[kind]:
                name, tensor = given["name"], known.get(given["name"])
                if tensor is None:
                    raise pb_utils.TritonModelException(
                        f"model {self._name!r}: the engine has no {kind} {name!r}; there are {list(known)}"
                    )
                dims = tuple(int(extent) for extent in given["dims"])
                shape = tensor.shape[1:] if self._most_rows else tensor.shape
                if len(dims) != len(shape) or any(-1 not in (a, b) and a != b for a, b in zip(dims, shape)):
                    raise pb_utils.TritonModelException(
                        f"model {self._name!r}: {kind} {name!r} has dims {list(dims)} in config.pbtxt; the engine has "
                        f"{list(shape)}" + (" behind the batch" if self._most_rows else "")
                    )
                if given["data_type"] == "TYPE_BF16" or tensor.dtype == "bfloat16":
                    raise pb_utils.TritonModelException(
                        f"model {self._name!r}: {kind} {name!r} is {given['data_type']} in config.pbtxt; the engine has "
                        f"{tensor.dtype}. Triton's Python backend has no arrays of BF16: FP32 or FP16 is needed in both"
                    )
                if np.dtype(pb_utils.triton_string_to_numpy(given["data_type"])).name != tensor.dtype:
                    raise pb_utils.TritonModelException(
                        f"model {self._name!r}: {kind} {name!r} is {given['data_type']} in config.pbtxt; the engine "
                        f"has {tensor.dtype}"
                    )
            if kind == "input" and len(config[kind]) != len(known):
                raise pb_utils.TritonModelException(
                    f"model {self._name!r}: config.pbtxt has {len(config[kind])} inputs; the engine has {list(known)}"
                )
            for tensor in tensors if self._most_rows else ():
                if kind == "output" and tensor.name not in self._served:
                    continue
                if not tensor.shape or tensor.shape[0] != -1:
                    raise pb_utils.TritonModelException(
                        f"model {self._name!r}: max_batch_size is {self._most_rows}, but {tensor} has no axis for it"
                    )

    def _check_rows(self):
        """Runs made inputs. Raises where values decide how many rows an output has, as they do behind a NonZero.

        `_run` notices other numbers of rows, but not one that is right by chance: requests would get rows of each other.
        """
        examples = self._engine.example_inputs()
        names = [tensor.name for tensor in self._engine.inputs]
        rows = min([self._most_rows, *(array.shape[0] for array in examples)])
        for fill in (np.zeros_like, np.ones_like):
            inputs = dict(zip(names, (fill(array[:rows]) for array in examples)))
            try:
                self._outputs_of(inputs, rows)
            except _RowsError as failure:
                raise pb_utils.TritonModelException(str(failure)) from None
            except (kiln.Error, ValueError) as failure:
                pb_utils.Logger.log_warn(f"model {self._name!r}: made inputs do not run, so rows are not tried: {failure}")

    def execute(self, requests):
        """Answers each request. Requests of like shapes are one run; a request that is wrong gets an error, and the
        others their results."""
        answers = [None] * len(requests)
        groups = {}
        for place, request in enumerate(requests):
            try:
                arrays = self._inputs_of(request)
            except (ValueError, TypeError) as failure:
                answers[place] = self._error(failure)
                continue
            # Without a batch axis every request is a run of its own.
            likeness = tuple((a.dtype.str, a.shape[1:]) for a in arrays.values()) if self._most_rows else place
            groups.setdefault(likeness, []).append((place, arrays))
        for group in groups.values():
            for place, answer in self._run(group, requests):
                answers[place] = answer
        return answers

    def _inputs_of(self, request):
        arrays = {}
        for tensor in self._engine.inputs:
            given = pb_utils.get_input_tensor_by_name(request, tensor.name)
            if given is None:
                raise ValueError(f"model {self._name!r}: input {tensor.name!r} is missing")
            arrays[tensor.name] = np.asarray(given.as_numpy(), order="C")
        rows = {array.shape[0] if array.ndim else None for array in arrays.values()}
        if self._most_rows and (len(rows) != 1 or None in rows):
            raise ValueError(f"model {self._name!r}: inputs have {rows} rows; all need the same number")
        return arrays

    def _run(self, group, requests):
        """Answers the requests of a group, by one run or, where that fails, each by its own."""
        inputs = group[0][1]
        rows = [next(iter(arrays.values())).shape[0] if self._most_rows else None for _, arrays in group]
        try:
            if len(group) > 1:
                inputs = {name: np.concatenate([arrays[name] for _, arrays in group]) for name in inputs}
            outputs = self._outputs_of(inputs, sum(rows) if self._most_rows else None)
        except Exception as failure:  # of any kind: an error that left `execute` would be that of all requests
            if len(group) > 1:
                return [answer for each in group for answer in self._run([each], requests)]
            return [(group[0][0], self._error(failure))]
        answers, start = [], 0
        for (place, _), count in zip(group, rows):
            wanted = requests[place].requested_output_names()
            tensors = [
                pb_utils.Tensor(name, array if count is None else array[start : start + count])
                for name, array in outputs.items()
                if name in wanted
            ]
            answers.append((place, pb_utils.InferenceResponse(output_tensors=tensors)))
            start += count or 0
        return answers

    def _outputs_of(self, inputs, rows):
        """The outputs that clients see. Raises `_RowsError` where one has other rows than the inputs; None: any may be."""
        made = self._engine(inputs)
        named = zip(self._outputs, made if isinstance(made, tuple) else (made,))
        outputs = {name: array for name, array in named if name in self._served}
        for name, array in outputs.items() if rows is not None else ():
            if not array.ndim or array.shape[0] != rows:
                raise _RowsError(
                    f"model {self._name!r}: output {name!r} has shape {array.shape} for {rows} rows, so it cannot be parted "
                    "among requests: max_batch_size has to be 0"
                )
        return outputs

    def _error(self, failure):
        words = str(failure) or type(failure).__name__
        return pb_utils.InferenceResponse(output_tensors=[], error=pb_utils.TritonError(words))

    def finalize(self):
        """Frees the engine."""
        self._engine.close()
