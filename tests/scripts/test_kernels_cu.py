"""tests/cuda/kernels.cu compares every header of src/kernels on a device, not some of them."""
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]


def test_every_kernel_is_compared_on_a_device():
    text = (ROOT / "tests/cuda/kernels.cu").read_text()
    compared = set(re.findall(r"X\((\w+)\)", text[text.index("#define PROBES(X)"):text.index("#define NAME(name)")]))
    headers = {path.stem for path in (ROOT / "src/kernels").glob("*.h")}
    assert headers <= compared, sorted(headers - compared)
    for name in compared:
        assert f"probe_{name}(" in text
