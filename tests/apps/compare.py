"""Whether two folders that a program wrote hold the same: HDF5 files by what is in them, others by their bytes."""
import os
import subprocess

import h5py
import numpy as np

BLOCK_BYTES = 64 << 20


def kind(path):
    """hdf5, netcdf or other: a file by how it begins."""
    with open(path, "rb") as file:
        start = file.read(8)
    return "hdf5" if start == b"\x89HDF\r\n\x1a\n" else "netcdf" if start[:3] == b"CDF" else "other"


def files_in(folder):
    """The files below a folder, by their names in it."""
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)


def plain(value, file):
    """A value as something that can be compared with one of another file: references become names."""
    if isinstance(value, h5py.Reference):
        return file[value].name if value else None
    if isinstance(value, h5py.Empty):
        return "empty", str(value.dtype)
    value = np.asarray(value)
    if not value.dtype.hasobject:
        return value.dtype.str if value.dtype.names is None else str(value.dtype), value.shape, value.tobytes()
    if value.dtype.names is not None:
        return [[plain(element[name], file) for name in value.dtype.names] for element in value.flat]
    return [plain(x, file) if isinstance(x, (h5py.Reference, np.ndarray)) else repr(x) for x in value.flat]


def blocks(dataset):
    """Selections that cover a dataset, each of about BLOCK_BYTES."""
    if not dataset.shape or not dataset.size:
        return [()]
    row = max(1, dataset.nbytes // dataset.shape[0])
    step = max(1, BLOCK_BYTES // row)
    return [slice(i, i + step) for i in range(0, dataset.shape[0], step)]


def attributes_differ(a, b):
    if sorted(a.attrs) != sorted(b.attrs):
        return "%s: other attributes" % a.name
    for name in a.attrs:
        if plain(a.attrs[name], a.file) != plain(b.attrs[name], b.file):
            return "%s: attribute %s" % (a.name, name)
    return None


def objects_differ(a, b):
    if type(a) is not type(b):
        return "%s: another kind of object" % a.name
    if isinstance(a, h5py.Dataset):
        for what in ("dtype", "shape", "maxshape", "chunks", "compression"):
            if getattr(a, what) != getattr(b, what):
                return "%s: %s %s, %s" % (a.name, what, getattr(a, what), getattr(b, what))
        if a.shape is not None and any(plain(a[s], a.file) != plain(b[s], b.file) for s in blocks(a)):
            return "%s: values" % a.name
    return attributes_differ(a, b)


def hdf5_differ(a, b):
    with h5py.File(a, "r") as x, h5py.File(b, "r") as y:
        names, others = [], []
        x.visit(names.append)
        y.visit(others.append)
        if names != others:
            return "other objects: %s" % ", ".join(sorted(set(names) ^ set(others))[:3])
        for name in ["/"] + names:
            difference = objects_differ(x[name], y[name])
            if difference:
                return difference
    return None


def same_bytes(a, b):
    with open(a, "rb") as x, open(b, "rb") as y:
        while True:
            block = x.read(1 << 20)
            if block != y.read(1 << 20):
                return False
            if not block:
                return True


def netcdf_differ(a, b):
    """Bytes that nobody put may differ: then PnetCDF's tool decides."""
    if same_bytes(a, b):
        return None
    told = subprocess.run(["cdfdiff", a, b], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return told.stdout.strip()[:200] or "bytes" if told.returncode else None


def folders_differ(a, b):
    """None where both folders hold the same, or the first difference."""
    names = files_in(a)
    if names != files_in(b):
        return "other files: %s" % ", ".join(sorted(set(names) ^ set(files_in(b)))[:3])
    for name in names:
        x, y = os.path.join(a, name), os.path.join(b, name)
        if kind(x) != kind(y):
            return "%s: another format" % name
        if kind(x) == "other":
            difference = None if same_bytes(x, y) else "bytes"
        else:
            try:
                difference = (hdf5_differ if kind(x) == "hdf5" else netcdf_differ)(x, y)
            except OSError as error:  # not a whole file
                difference = str(error)
        if difference:
            return "%s: %s" % (name, difference)
    return None
