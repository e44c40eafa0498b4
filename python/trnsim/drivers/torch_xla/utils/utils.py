"""`torch_xla.utils.utils`: the sample loader of its examples."""

from trnsim.drivers import NO_COUNTERPART, refuse_others


class SampleGenerator:
    """The same batch, `sample_count` times."""

    def __init__(self, data, sample_count):
        self._data = data
        self._sample_count = sample_count

    def __iter__(self):
        return (self._data for _ in range(self._sample_count))

    def __len__(self):
        return self._sample_count


__getattr__ = refuse_others("torch_xla.utils.utils", NO_COUNTERPART)
