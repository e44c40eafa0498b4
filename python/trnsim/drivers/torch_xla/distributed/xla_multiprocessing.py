"""`torch_xla.distributed.xla_multiprocessing`: the only worker runs in this process."""

from trnsim.drivers import NO_COUNTERPART, ONE_WORKER, refuse, refuse_others


def spawn(fn, args=(), nprocs=None, join=True, daemon=False, start_method="spawn"):
    """fn(0, *args). Raises Unsupported when more than one worker is asked for."""
    if nprocs not in (None, 1):
        refuse(f"torch_xla's spawn of {nprocs} workers", ONE_WORKER)
    return fn(0, *args)


__getattr__ = refuse_others("torch_xla.distributed.xla_multiprocessing", NO_COUNTERPART)
