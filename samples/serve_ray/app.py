"""The application, for `serve deploy` with a file as deploy.yaml, or for `serve.run(build({...}))` from Python."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ray.serve import Application

from .gateway import Gateway
from .replica import Replica
from .settings import Model, SettingsError, read_models

_METRICS_S = 1.0  # how often replicas tell their load: with the default of 10 s, shorter delays would be none
_ARGUMENTS = ("models", "gateways", "gateway_cpus", "time_limit_s", "body_limit_s", "most_bytes", "most_bytes_in_flight")


def _replica(model: Model) -> Application:
    # The engine's threads: as many as the replica has cores. Set before the process begins, for Kiln reads it once.
    environment = {"KILN_THREADS": str(max(1, math.ceil(model.num_cpus)))}
    deployment = Replica.options(
        name=model.name,
        ray_actor_options={
            "num_cpus": model.num_cpus,
            "num_gpus": model.num_gpus,
            "runtime_env": {"env_vars": environment},
        },
        max_ongoing_requests=model.max_ongoing_requests,
        max_queued_requests=model.max_queued_requests or -1,
        user_config=model.user_config(),
        health_check_period_s=model.health_check_period_s,
        graceful_shutdown_timeout_s=model.drain_s,
        autoscaling_config={
            "min_replicas": model.min_replicas,
            "max_replicas": model.max_replicas,
            "initial_replicas": max(model.min_replicas, 1),
            "target_ongoing_requests": model.target_ongoing_requests,
            "upscale_delay_s": model.upscale_delay_s,
            "downscale_delay_s": model.downscale_delay_s,
            "metrics_interval_s": _METRICS_S,
            "look_back_period_s": max(2 * _METRICS_S, model.upscale_delay_s),
        },
    )
    return deployment.bind(model.constant())


def build(arguments: Mapping[str, Any]) -> Application:
    """The application for a list of models; deploy.yaml shows the arguments. Raises `SettingsError`.

    models: settings as in settings.Model.
    gateways: processes that read requests and write answers.
    gateway_cpus: cores that Ray counts for each of these.
    time_limit_s: the longest that a request may take, tries on other replicas included.
    body_limit_s: the longest that its body may take to come.
    most_bytes: the largest body of a request.
    most_bytes_in_flight: bytes of all bodies that a gateway holds; above it requests are refused.
    """
    unknown = sorted(set(arguments) - set(_ARGUMENTS))
    if unknown:
        raise SettingsError(f"{unknown[0]!r} is no argument; there are {', '.join(_ARGUMENTS)}")
    models = read_models(arguments.get("models"))
    gateway = Gateway.options(
        num_replicas=int(arguments.get("gateways", 1)),
        ray_actor_options={"num_cpus": float(arguments.get("gateway_cpus", 1))},
        max_ongoing_requests=1024,
    )
    return gateway.bind(
        {model.name: _replica(model) for model in models},
        {model.name: model.version for model in models},
        float(arguments.get("time_limit_s", 60)),
        float(arguments.get("body_limit_s", 60)),
        int(arguments.get("most_bytes", 256 << 20)),
        int(arguments.get("most_bytes_in_flight", 1 << 30)),
    )


__all__ = ["Model", "SettingsError", "build"]
