"""`torch_xla.core.xla_model`: one worker whose device is the CPU."""

import torch

from trnsim.drivers import NO_COUNTERPART, ONE_WORKER, refuse, refuse_others, torch_device

REDUCE_SUM, REDUCE_MUL, REDUCE_AND, REDUCE_OR, REDUCE_MIN, REDUCE_MAX = "sum", "mul", "and", "or", "min", "max"

_closures = []  # (function, arguments) that wait for the end of the step


def xla_device(n: int | None = None, devkind: str | None = None) -> torch.device:
    """The CPU, in the role of the NeuronCore. Raises Unsupported for a second device."""
    if n:
        refuse(f"torch_xla device {n}", ONE_WORKER)
    return torch_device.CPU


def get_xla_supported_devices(devkind=None, max_devices=None) -> list[str]:
    return ["xla:0"]


def xla_device_hw(device) -> str:
    return "NEURON"


def xla_real_devices(devices=None) -> list[str]:
    return ["NEURON:0"]


def mark_step(wait: bool = False, reset_scope: bool = True) -> None:
    """The end of a step: run what `add_step_closure` noted. Operations have run already."""
    closures, _closures[:] = _closures[:], []
    for function, arguments in closures:
        function(*arguments)


def wait_device_ops(devices=()) -> None:
    """Nothing is pending here."""


def unlazy(tensors) -> None:
    """Tensors have their values already."""


def add_step_closure(closure, args=(), run_async=False) -> None:
    """Call closure(*args) at the end of the step."""
    _closures.append((closure, tuple(args)))


def get_ordinal(defval: int = 0) -> int:
    return 0


def get_local_ordinal(defval: int = 0) -> int:
    return 0


def xrt_world_size(defval: int = 1) -> int:
    return 1


def is_master_ordinal(local: bool = True) -> bool:
    return True


def master_print(*args, fd=None, local=False, flush=False) -> None:
    print(*args, file=fd, flush=flush)


def _alone(groups):
    """One worker is every group; groups of more cannot be met."""
    if any(len(group) > 1 for group in groups or ()):
        refuse(f"a collective of torch_xla over groups {groups}", ONE_WORKER)


def all_reduce(reduce_type, inputs, scale: float = 1.0, groups=None, pin_layout=True):
    """The inputs times `scale`: a tensor is returned, a list of tensors is changed in place."""
    _alone(groups)
    if isinstance(inputs, torch.Tensor):
        return inputs * scale if scale != 1.0 else inputs.clone()
    for tensor in inputs:
        tensor.mul_(scale)
    return inputs


def all_gather(value, dim: int = 0, groups=None, output=None, pin_layout=True, channel_id=None,
               use_global_device_ids=None):
    _alone(groups)
    return value.clone() if output is None else output.copy_(value)


def reduce_scatter(reduce_type, input, scale, scatter_dim, shard_count, groups=None, output=None,  # noqa: A002
                   pin_layout=True, channel_id=None, use_global_device_ids=None):
    _alone(groups)
    if shard_count != 1:
        refuse(f"torch_xla reduce_scatter over {shard_count} shards", ONE_WORKER)
    return input * scale if output is None else output.copy_(input * scale)


def all_to_all(value, split_dimension, concat_dimension, split_count, groups=None, pin_layout=True):
    _alone(groups)
    if split_count != 1:
        refuse(f"torch_xla all_to_all over {split_count} workers", ONE_WORKER)
    return value.clone()


def collective_permute(value, pairs):
    """The value where the pairs send worker 0's to itself, zeros where they send it nothing."""
    if any(worker for pair in pairs for worker in pair):
        refuse(f"torch_xla collective_permute over {pairs}", ONE_WORKER)
    return value.clone() if pairs else torch.zeros_like(value)


def rendezvous(tag, payload=b"", replicas=()) -> list[bytes]:
    return [payload]


def reduce_gradients(optimizer, groups=None, pin_layout=True) -> None:
    _alone(groups)


def optimizer_step(optimizer, barrier=False, optimizer_args=None, groups=None, pin_layout=True):
    """optimizer.step(), and the end of the step with `barrier`."""
    _alone(groups)
    loss = optimizer.step(**(optimizer_args or {}))
    if barrier:
        mark_step()
    return loss


def save(data, file_or_path, master_only=True, global_master=False) -> None:
    torch.save(data, file_or_path)


def send_cpu_data_to_device(data, device, input_sharding=None):
    return data


def set_rng_state(seed, device=None) -> None:
    torch.manual_seed(int(seed))


def get_rng_state(device=None) -> int:
    return torch.initial_seed()


__getattr__ = refuse_others("torch_xla.core.xla_model", NO_COUNTERPART)
