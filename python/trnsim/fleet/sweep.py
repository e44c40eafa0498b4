"""trnsim sweep plan.toml: many plans, on local processes or on Ray, with results in SQLite.

    [fixed]                      # the same in every plan: options of trnsim train
    model = "llama3-8b"
    global_batch = 512
    [vary]                       # every combination of these
    on = ["trn1.32xlarge:16", "p5.48xlarge:8"]
    tp = [8, 16, 32]
"""

import argparse
import itertools
import multiprocessing
import os
import sys
import time
import tomllib
from pathlib import Path

import trnsim
from trnsim import fleet
from trnsim.fleet import plots
from trnsim.fleet.store import Store


def points_of(path):
    """The plans of a file, each as the options of fleet.train."""
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
    except OSError as error:
        raise trnsim.ConfigError(f"{path}: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise trnsim.ConfigError(f"{path}: {error}") from None
    fixed, vary = table.get("fixed", {}), table.get("vary", {})
    known = set(fleet.options())
    for name in [*fixed, *vary]:
        if name.replace("-", "_") not in known:
            raise trnsim.ConfigError(f"{path}: {name} is no option of trnsim train; known: {', '.join(sorted(known))}")
    for name, values in vary.items():
        if not isinstance(values, list) or not values:
            raise trnsim.ConfigError(f"{path}: [vary] {name} must be a list of one value or more")
    given = {name.replace("-", "_") for name in [*fixed, *vary]}
    for name in ("model", "on"):
        if name not in given:
            raise trnsim.ConfigError(f"{path}: {name} is given neither under [fixed] nor under [vary]")
    names = list(vary)
    return [{**fixed, **dict(zip(names, values, strict=True))} for values in itertools.product(*vary.values())]


def evaluate(options):
    """(plan, error) of one point; an illegal combination is a result too."""
    options = {name.replace("-", "_"): value for name, value in options.items()}
    try:
        return dict(fleet.train(options.pop("model"), on=options.pop("on"), **options)), None
    except trnsim.Error as error:
        return None, str(error)


def _work(path):
    store = Store(path)
    while (claimed := store.claim()) and os.getppid() != 1:
        id_, options = claimed
        store.finish(id_, *evaluate(options))


def run_local(path, processes, progress):
    """Works through the file with processes of this host."""
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_work, args=(path,), daemon=True) for _ in range(processes)]
    for worker in workers:
        worker.start()
    store = Store(path)
    while any(worker.is_alive() for worker in workers):
        time.sleep(0.2)
        progress(*store.counts())
    store.release()  # of workers that were killed: the next run does them
    progress(*store.counts())
    store.close()


def run_ray(path, address, progress):
    """Works through the file on a Ray cluster. This process writes; a task whose worker dies runs again."""
    try:
        import ray
    except ImportError:
        raise trnsim.ConfigError("--engine ray://... needs the Python package ray: pip install ray") from None
    ray.init(address=None if address in ("", "local") else address, log_to_driver=False, configure_logging=False)
    task = ray.remote(max_retries=10)(evaluate)
    store = Store(path)
    waiting = {}
    width = max(4, 4 * int(ray.cluster_resources().get("CPU", 1)))
    while True:
        while len(waiting) < width and (claimed := store.claim()):
            waiting[task.remote(claimed[1])] = claimed[0]
        if not waiting:
            break
        for done in ray.wait(list(waiting), num_returns=1)[0]:
            store.finish(waiting.pop(done), *ray.get(done))
        progress(*store.counts())
    store.close()
    ray.shutdown()


def _progress(done, all_):
    if sys.stderr.isatty():
        print(f"\rtrnsim: {done} of {all_} plans", end="\n" if done == all_ else "", file=sys.stderr, flush=True)


def sweep(file, *, results=None, engine="local", processes=None, progress=_progress):
    """Runs what is not yet finished of a plan file; returns the Store with all results."""
    path = Path(results) if results else Path(file).with_suffix(".sqlite")
    points = points_of(file)
    store = Store(path)
    store.release()
    store.add(points)
    if engine == "local":
        run_local(path, processes or os.cpu_count() or 1, progress)
    elif engine.startswith("ray://"):
        run_ray(path, engine if engine[6:] not in ("", "local") else engine[6:], progress)
    else:
        raise trnsim.ConfigError(f"--engine {engine}: local, or the address of a Ray cluster such as ray://head:10001 "
                                 "(ray://local starts one)")
    return store


def main(arguments) -> int:
    """The command `trnsim sweep`."""
    parser = argparse.ArgumentParser(prog="trnsim sweep", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", help="a TOML file with [fixed] and [vary]")
    parser.add_argument("--results", help="the SQLite file; by default beside the plan")
    parser.add_argument("--engine", default="local", help="local, or ray://ADDRESS")
    parser.add_argument("--processes", type=int, help="local processes; by default one per processor")
    parser.add_argument("--plot", action="append", default=[], help="time against cost, as .svg, .png or .html")
    parser.add_argument("--json", action="store_true", help="print the plans as JSON")
    options = parser.parse_args(arguments)
    store = sweep(options.plan, results=options.results, engine=options.engine, processes=options.processes)
    results = store.results()
    for path in options.plot:
        plots.write(path, results)
    print(plots.as_json(results) if options.json else plots.table(results, Path(store.path).name))
    return 0
