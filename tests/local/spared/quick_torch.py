"""Lets jobs of the tests import torch without its compiler, which none of them uses, for a fifth of the CPU time.

A rank that trains imports 2 000 modules, more than half of them for `torch.compile`. A stand-in for `torch._dynamo`
answers what eager code asks it, and becomes the real one as soon as somebody asks more; the rules for tensors without
data come with it. The names are those of torch 2.13; with another version the worst case is the whole import.
"""

import sys
from importlib.machinery import PathFinder

# Every process that a test starts loads this, so it does without `types` and `importlib.abc`, which load much more.
ModuleType, SimpleNamespace = type(sys), type(sys.implementation)

COMPILER = "torch._dynamo"
META = "torch._meta_registrations"
UNUSED = {f"torch.{name}" for name in ("distributions", "export", "masked", "profiler", "quantization")}
"""Modules that `import torch` loads and few programs use: they are loaded when somebody asks them for something."""


class WithoutCollections:
    """Loads torch without garbage collections, which find nothing in what stays until the end."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self._loader
        import atexit
        import gc
        import inspect

        # Registrations of operators ask for their place in the source, for which it would look at all modules.
        find_module, inspect.getmodule = inspect.getmodule, lambda *_: None
        gc.disable()
        try:
            self._loader.exec_module(module)
        finally:
            inspect.getmodule = find_module
            gc.freeze()  # nor does the one at the end of the process
            gc.enable()
        atexit.register(end_slowly)


def end_slowly():
    """Give the threads of a training the time that the whole of torch needs to end: else they abort it at times.

    The reason is pytorch#179291.
    """
    if COMPILER in sys.modules:
        import time

        time.sleep(1)


class Compiler(ModuleType):
    """Stands for `torch._dynamo` until it is asked for what it does not have."""

    utils = SimpleNamespace(get_optimize_ddp_mode=lambda: "ddp_optimizer")
    trace_rules = SimpleNamespace(clear_lru_cache=lambda: None)

    @staticmethod
    def disable(fn=None, recursive=True, **_options):
        return fn if fn is not None else lambda fn: fn

    @staticmethod
    def graph_break(msg=""):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        load_compiler()
        return getattr(self, name)


class Meta(ModuleType):
    """Stands for the rules for tensors without data, of which eager code needs one effect: `torch.Generator` works."""

    def __init__(self, name):
        super().__init__(name)
        from torch import _C, _opaque_base

        _C._set_generator_metaclass(_opaque_base.OpaqueBaseMeta)


class Later:
    """Loads a stand-in."""

    def __init__(self, loader):
        self.loader = loader

    def create_module(self, spec):
        return (Compiler if spec.name == COMPILER else Meta)(spec.name)

    def exec_module(self, module):
        pass


class Finder:
    """Finds torch and the stand-ins; an import from within `torch._dynamo` is one that needs the real one."""

    def find_spec(self, name, path=None, target=None):
        if name.startswith(f"{COMPILER}."):
            load_compiler()
        elif name in {"torch", META, COMPILER} | UNUSED:
            spec = PathFinder.find_spec(name, path, target)
            if spec and spec.loader:
                spec.loader = loader_of(name)(spec.loader)
            return spec
        return None


def loader_of(name):
    """Return the class of the loader that loads a module in place of its own."""
    if name in UNUSED:
        from importlib.util import LazyLoader

        return LazyLoader
    return WithoutCollections if name == "torch" else Later


def load_compiler():
    """Turn the stand-ins into the real modules."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, Finder)]
    for name in (META, COMPILER):
        module = sys.modules.get(name)
        if isinstance(module, (Meta, Compiler)):
            module.__class__ = ModuleType
            module.__loader__ = module.__spec__.loader = module.__spec__.loader.loader
            module.__loader__.exec_module(module)


sys.meta_path.insert(0, Finder())
