"""Checks that the arrows between the layers point down only: each src/<layer>/CMakeLists.txt may name, after USES,
only layers that src/CMakeLists.txt lists before it; and every folder under src/ is in that list."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEYWORDS = {"SOURCES", "USES", "PRIVATE_LIBRARIES", "PUBLIC_LIBRARIES", "PRECOMPILED", "COLD"}


def layer_order(text):
    """The layers, lowest first, as the loop in src/CMakeLists.txt names them."""
    return re.search(r"foreach\(layer ([^)]*)\)", text)[1].split()


def used_layers(text):
    """The words after USES in a layer's trnsim_layer(...)."""
    words = re.sub(r"#.*", "", text).replace(")", " ) ").split()
    used, within = [], False
    for word in words:
        if word in KEYWORDS or word == ")":
            within = word == "USES"
        elif within:
            used.append(word)
    return used


def broken_arrows(src):
    """One sentence per arrow that points the wrong way."""
    order = layer_order((src / "CMakeLists.txt").read_text())
    for folder in sorted(p.parent for p in src.glob("*/CMakeLists.txt")):
        layer = folder.name
        if layer not in order:
            yield f"src/{layer} is not in the list of src/CMakeLists.txt"
            continue
        for used in used_layers((folder / "CMakeLists.txt").read_text()):
            if used not in order:
                yield f"src/{layer} uses {used}, which is no layer"
            elif order.index(used) >= order.index(layer):
                yield f"src/{layer} uses {used}, which does not stand below it"


if __name__ == "__main__":
    broken = list(broken_arrows(ROOT / "src"))
    print("\n".join(broken) or "every arrow points down")
    sys.exit(bool(broken))
