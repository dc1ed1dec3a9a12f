"""Versions and the device, as facts."""

import os
import sys

_PREFIXES = ("TORCHDYNAMO_", "TORCH_COMPILE", "TORCHINDUCTOR_", "TRITON_", "LIGER_", "PYTORCH_CUDA_ALLOC_CONF",
             "PYTORCH_ALLOC_CONF", "TORCH_LOGS", "CUDA_LAUNCH_BLOCKING", "TORCH_CUDA_ARCH_LIST")
_PRIVATE = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TRITON_LIBCUDA_PATH", "TORCHINDUCTOR_COMPILE_THREADS",
            "TRITON_HOME", "TRITON_DUMP_DIR", "TRITON_OVERRIDE_DIR", "TRITON_CACHE_MANAGER")


def variables():
    """Only those that change what is compiled or how."""
    return {name: value for name, value in sorted(os.environ.items())
            if name.startswith(_PREFIXES) and name not in _PRIVATE}


def python_version():
    return "%d.%d.%d" % sys.version_info[:3]


def torch_versions(torch):
    return {"torch": torch.__version__, "torch_git": getattr(torch.version, "git_version", None),
            "cuda": torch.version.cuda}


def triton_version():
    try:
        import triton

        return triton.__version__
    except Exception:
        return None


def liger(sys_path):
    """{"liger", "liger_path"} of the liger_kernel that imports; None values if there is none.

    The version comes from the metadata beside the package, or from the pyproject.toml of a checkout: Liger's own
    package does not name it."""
    import importlib.util

    try:
        spec = importlib.util.find_spec("liger_kernel")
    except Exception:
        spec = None
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        return {"liger": None, "liger_path": None}
    root = os.path.dirname(os.path.realpath(places[0]))
    return {"liger": _metadata_version([root, *sys_path]) or _pyproject_version(os.path.dirname(root)), "liger_path": root}


def _metadata_version(roots):
    from importlib import metadata

    try:
        for found in metadata.distributions(name="liger-kernel", path=[os.path.realpath(root) for root in roots]):
            return found.version
        for found in metadata.distributions(name="liger-kernel-nightly", path=[os.path.realpath(root) for root in roots]):
            return found.version
    except Exception:
        return None
    return None


def _pyproject_version(folder):
    try:
        import tomllib

        with open(os.path.join(folder, "pyproject.toml"), "rb") as source:
            return tomllib.load(source)["project"]["version"] + "+checkout"
    except Exception:
        return None


def device(torch, kind):
    """The device as torch sees it. Initialises CUDA; raises what torch raises."""
    torch.cuda.init()
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    return {"kind": kind, "name": properties.name, "capability": f"{properties.major}.{properties.minor}",
            "count": torch.cuda.device_count(), "arch_list": torch.cuda.get_arch_list(),
            "total_memory": properties.total_memory, "multiprocessors": properties.multi_processor_count}
