"""`torch_xla.debug.metrics`: nothing is compiled or transferred, so there is nothing to count."""

from trnsim.drivers import NO_COUNTERPART, refuse_others


def metrics_report() -> str:
    return "Counters of torch_xla do not exist under trnsim; trnsim.last_profile() tells of the kernels."


def short_metrics_report(counter_names=None, metric_names=None) -> str:
    return metrics_report()


def clear_all() -> None:
    """There is nothing to clear."""


clear_counters = clear_metrics = clear_all

__getattr__ = refuse_others("torch_xla.debug.metrics", NO_COUNTERPART)
