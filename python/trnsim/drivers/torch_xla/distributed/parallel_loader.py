"""`torch_xla.distributed.parallel_loader`: batches come from the user's loader as they are."""

from trnsim.drivers import NO_COUNTERPART, ONE_WORKER, refuse, refuse_others


class MpDeviceLoader:
    """The batches of `loader`."""

    def __init__(self, loader, device, **options):
        self._loader = loader

    def __iter__(self):
        return iter(self._loader)

    def __len__(self):
        return len(self._loader)


class ParallelLoader:
    """The batches of `loader` for the only device."""

    def __init__(self, loader, devices, **options):
        if len(devices) != 1:
            refuse(f"ParallelLoader over {len(devices)} devices", ONE_WORKER)
        self._loader = loader

    def per_device_loader(self, device):
        return MpDeviceLoader(self._loader, device)


__getattr__ = refuse_others("torch_xla.distributed.parallel_loader", NO_COUNTERPART)
