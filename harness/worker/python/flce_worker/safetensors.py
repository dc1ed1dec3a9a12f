"""Tensors in the safetensors format: an 8-byte little-endian header length, a JSON header, the bytes."""

import json
import os
import struct

_NAMES = {"torch.float64": "F64", "torch.float32": "F32", "torch.float16": "F16", "torch.bfloat16": "BF16",
          "torch.int64": "I64", "torch.int32": "I32", "torch.int16": "I16", "torch.int8": "I8", "torch.uint8": "U8",
          "torch.bool": "BOOL"}


def header(entries, metadata=None):
    """`entries`: (name, dtype name as "torch.float32", shape, bytes). Padded so that the data begins at a multiple of 8."""
    table, offset = {}, 0
    if metadata:
        table["__metadata__"] = {str(key): str(value) for key, value in metadata.items()}
    for name, dtype, shape, size in entries:
        table[name] = {"dtype": _NAMES[dtype], "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(table, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def save(path, tensors, metadata=None):
    """Writes {name: tensor} whole or not at all. Tensors may live on any device and have any layout."""
    import torch

    flat = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    entries = [(name, str(tensor.dtype), tensor.shape, tensor.numel() * tensor.element_size())
               for name, tensor in flat.items()]
    partial = f"{path}.{os.getpid()}.part"
    try:
        with open(partial, "wb") as out:
            out.write(header(entries, metadata))
            for tensor in flat.values():
                if tensor.numel():
                    out.write(tensor.reshape(-1).view(torch.uint8).numpy().data)
        os.replace(partial, path)
    except BaseException:
        try:
            os.unlink(partial)
        except OSError:
            pass
        raise
