"""The application, for `serve deploy` with a file as deploy.yaml, or for `serve.run(build({...}))` from Python."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ray.serve import Application

from kiln.serve import Settings

from .gateway import Gateway
from .replica import Replica
from .settings import Model, SettingsError, check_number, read_models

_METRICS_S = 1.0  # how often replicas tell their load: with the default of 10 s, shorter delays would be none
_MOST_AT_A_GATEWAY = 1024  # requests that a gateway has, and as many that wait for one at each proxy
_DEFAULTS = {
    "gateways": 1,
    "gateway_cpus": 1,
    "time_limit_s": 60,
    "most_bytes": 64 << 20,
    "most_bytes_in_flight": 1 << 30,
    "body_s": 60,
}


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
    time_limit_s: the longest that a request may take from when it was read, tries on other replicas included.
    most_bytes: the largest body of a request, decompressed.
    most_bytes_in_flight: bytes of all requests that a gateway reads or waits for. One more gets status 503.
    body_s: the longest that a client may take to send a body.
    """
    unknown = sorted(map(str, set(arguments) - {"models", *_DEFAULTS}))
    if unknown:
        raise SettingsError(f"{unknown[0]!r} is no argument; there are models, {', '.join(_DEFAULTS)}")
    numbers = {name: arguments.get(name, default) for name, default in _DEFAULTS.items()}
    for name, value in numbers.items():
        check_number("the application", name, value)
    if numbers["most_bytes"] > numbers["most_bytes_in_flight"]:
        raise SettingsError(
            f"the application: most_bytes is {numbers['most_bytes']}; no request may have more bytes than all together: "
            f"most_bytes_in_flight is {numbers['most_bytes_in_flight']}"
        )
    models = read_models(arguments.get("models"))
    gateway = Gateway.options(
        num_replicas=numbers["gateways"],
        ray_actor_options={"num_cpus": float(numbers["gateway_cpus"])},
        max_ongoing_requests=_MOST_AT_A_GATEWAY,
        max_queued_requests=_MOST_AT_A_GATEWAY,
    )
    settings = Settings(
        max_request_bytes=numbers["most_bytes"],
        max_bytes_in_flight=numbers["most_bytes_in_flight"],
        body_seconds=numbers["body_s"],
        request_seconds=numbers["time_limit_s"],
    )
    return gateway.bind(
        {model.name: _replica(model) for model in models},
        {model.name: model.version for model in models},
        float(numbers["time_limit_s"]),
        settings,
        frozenset(model.name for model in models if not model.min_replicas),
    )


__all__ = ["Model", "SettingsError", "build"]
