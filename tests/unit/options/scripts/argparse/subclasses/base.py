DATASETS = {}


class Dataset:
    def __init_subclass__(cls, name=None, **kwargs):
        super().__init_subclass__(**kwargs)
        DATASETS[name or cls.__name__] = cls


class Model: ...
