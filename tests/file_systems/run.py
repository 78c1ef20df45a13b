#!/usr/bin/env python3
"""Forebay on file systems of several kinds, each mounted by two hosts: random programs that compare it with the stock
libraries or a model, blocks with holes, and what the other host reads right after close.

  ./dev test-filesystems [OPTION...] [SYSTEM...]    ext4, xfs, btrfs, overlay, fuse, nfs, glusterfs, moosefs; all, the default

The hosts are pseudo hosts: network namespaces that MPI takes for nodes, with a mount of the file system each. Servers and
mounts lie in memory and end with the namespaces in which they are made. Needs root, iproute2 and Open MPI; in the private
root the servers are Debian's, installed once into a root of their own. A line a system and mode: each program's outcome,
as `ok`, or what is wrong, and how long it took. Exit status 1: something is wrong; 77: nothing could be tried."""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # this folder is the checkout
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from systems import SERVER, SYSTEMS, NotHere  # noqa: E402

TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(TOP, "build", os.environ.get("FOREBAY_BUILD_PREFIX", "") + "release")
HOSTS, RANKS_EACH = 2, 4
SKIPPED = 77
MODES = ("strict", "commit")

# ROMIO writes what is put and nothing else, so that bytes that nobody put are the same in every run.
EXACT = {"ROMIO_HINTS": "WORK/exact"}
STOCK = {"FOREBAY_TEST_STOCK_FOLDER": "WORK/stock"}  # in memory: where the stock drivers are right


def programs(options, mode):
    """Name, command, and environment of each."""
    forebay = [os.path.join(BUILD, "tools", "forebay"), "run", "--mode", mode]
    some = ["--seed", str(options.seed), "--count", str(options.count)]
    hints = {"FOREBAY_HINTS": f"forebay_mode={mode}"}
    test = lambda room, name: os.path.join(BUILD, "tests", room, name)  # noqa: E731
    if options.run:
        return {"run": (["sh", "-c", options.run], STOCK)}
    all_of_them = {
        "mixed": (forebay + [test("mixed", "mixed_random"), "--forebay", "--no-mpiio", "--patience", "200"] + some, {}),
        "hdf5": ([test("hdf5", "hdf5_random")] + some + ["--patience", "200"] + (["--commit"] if mode == "commit" else []), STOCK),
        "pnetcdf": ([test("pnetcdf", "pnetcdf_random")] + some, EXACT | STOCK | hints),
        "tcio": ([test("tcio", "tcio_random"), "--stock", "0"] + some, {}),
        "mounts": (forebay + [test("file_systems", "two_mounts")], {}),
    }
    return {name: all_of_them[name] for name in options.programs or all_of_them}


def read_arguments():
    parser = argparse.ArgumentParser(prog="./dev test-filesystems", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("systems", nargs="*", metavar="SYSTEM", help=argparse.SUPPRESS)
    add("--mode", dest="modes", action="append", choices=MODES, help="(default: both)")
    add("--program", dest="programs", action="append", choices=("mixed", "hdf5", "pnetcdf", "tcio", "mounts"), help="(default: all)")
    add("--seed", type=int, default=1, metavar="N", help="of the first random program (default: 1)")
    add("--count", type=int, default=5, metavar="K", help="random programs of each kind (default: 5)")
    add("--limit", type=int, default=600, metavar="SECONDS", help="that a program may take (default: 600)")
    add("--io", choices=("romio341", "ompio"), default="romio341", help="Open MPI's MPI-IO (default: romio341)")
    add("--run", metavar="COMMAND", help="by sh on each rank, in place of the programs; $BUILD is the build folder")
    add("--keep", action="store_true", help="what the programs leave and say stays, also where all is well")
    add("--work", default=os.path.join(TOP, "build", "file-systems"), metavar="FOLDER", help="for what stays (default: build/file-systems)")
    add("--inside", action="store_true", help=argparse.SUPPRESS)
    add("--check", action="store_true", help=argparse.SUPPRESS)  # looks at the options only
    options = parser.parse_args()
    options.systems = options.systems or ["all"]
    for name in options.systems:
        if name != "all" and name not in SYSTEMS:
            parser.error(f"no file system '{name}'; there are {' '.join(SYSTEMS)}")
    if "all" in options.systems:
        options.systems = list(SYSTEMS)
    options.modes = options.modes or list(MODES)
    options.work = os.path.abspath(options.work)
    return options


def say(text):
    print(text, flush=True)


class Hosts:
    """Two processes, each with a network, a name and mounts of its own, and a bridge between them."""

    def __init__(self, folder, mounts, here):
        self.folder, self.holders = folder, []
        for i, mount in enumerate(mounts, 1):
            # Its mounts are not given on, and it says when it has them.
            script = f"mount --bind '{mount}' '{here}' && hostname {name(i)} && echo ready && exec sleep infinity"
            holder = subprocess.Popen(["unshare", "--net", "--uts", "--mount", "sh", "-c", script], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, text=True)
            if holder.stdout.readline() != "ready\n":
                raise NotHere("no right to make hosts")
            self.holders.append(holder.pid)
            call("ip", "link", "add", f"host{i}", "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid))
            call("ip", "link", "set", f"host{i}", "master", "bridge0", "up")
            self.on(i, "ip", "addr", "add", f"{address(i)}/24", "dev", "eth0")
            self.on(i, "ip", "link", "set", "eth0", "up")
            self.on(i, "ip", "link", "set", "lo", "up")
        # What the launcher calls in place of ssh: HOST COMMAND...
        self.agent = os.path.join(folder, "agent")
        with open(self.agent, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nhost=$1; shift\ncase $host in\n')
            for i, pid in enumerate(self.holders, 1):
                file.write(f'  {address(i)}) exec nsenter --target {pid} --net --uts --mount --wdns="$PWD" sh -c "$*" ;;\n')
            file.write("esac\n")
        os.chmod(self.agent, 0o755)

    def on(self, i, *command):
        call("nsenter", "--target", str(self.holders[i - 1]), "--net", *command)

    def run(self, command, folder, environment, log, limit):
        """Exit status, None past the limit. Ranks yield: there are more of them than cores."""
        network = ".".join(SERVER.split(".")[:3]) + ".0/24"
        settings = {"OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,sm,tcp",
                    "OMPI_MCA_btl_tcp_if_include": network} | environment
        launch = ["mpirun", "--allow-run-as-root", "--prtemca", "plm_ssh_agent", self.agent, "--prtemca", "plm_ssh_no_tree_spawn", "1",
                  "--prtemca", "prte_if_include", network, "--host", ",".join(f"{address(i)}:{RANKS_EACH}" for i in range(1, HOSTS + 1)),
                  "--map-by", f"ppr:{RANKS_EACH}:node:oversubscribe", "-n", str(HOSTS * RANKS_EACH), "--wdir", folder]
        for key in settings:
            launch += ["-x", key]
        own = os.path.join(self.folder, "tmp")  # a launcher that was killed leaves a folder over which the next one stumbles
        shutil.rmtree(own, ignore_errors=True)
        os.makedirs(own)
        started = subprocess.Popen(launch + command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                                   env=os.environ | settings | {"TMPDIR": own}, start_new_session=True)
        try:
            return started.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGTERM)
            try:
                started.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(started.pid, signal.SIGKILL)
                started.wait()
            return None


def name(i):
    return f"fshost{i}"


def address(i):
    return f"{SERVER.rsplit('.', 1)[0]}.{i}"


def call(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise NotHere(f"{' '.join(command)}: {done.stdout.strip()}")


def last_words(path):
    """What a log says of the failure, on a line."""
    with open(path, encoding="utf-8", errors="replace") as log:
        lines = [line.strip() for line in log if line.strip() and not line.startswith(("---", "prterun", "mpirun")) and "plm:ssh" not in line]
    telling = [line for line in lines if "differ" in line or "FAILED" in line or "fail" in line or "reproduce" in line or "wrong" in line]
    return (telling or lines or ["it says nothing"])[0][:160]


def try_system(options, system, work):
    """In namespaces of its own. Whether all is well."""
    memory = os.path.join(work, "memory")
    here = os.path.join(work, "here")
    call("ip", "link", "set", "lo", "up")
    call("ip", "link", "add", "bridge0", "type", "bridge")
    call("ip", "addr", "add", f"{SERVER}/24", "dev", "bridge0")
    call("ip", "link", "set", "bridge0", "up")
    for folder in (memory, here, os.path.join(work, "stock")):
        os.makedirs(folder, exist_ok=True)
        call("mount", "-t", "tmpfs", "-o", "size=3g", "tmpfs", folder)
    call("mount", "-t", "tmpfs", "tmpfs", "/var")  # where servers keep what they know
    for folder in ("/var/run", "/var/tmp"):
        os.makedirs(folder)
    system.folder = memory
    started = time.monotonic()
    system.start()
    hosts = Hosts(work, system.mounts(), here)
    say(f"{system.name}: {system.what}; mounted after {time.monotonic() - started:.0f} s")
    with open(os.path.join(work, "exact"), "w", encoding="utf-8") as file:
        file.write("romio_cb_write disable\nromio_ds_write disable\n")
    well = True
    for mode in options.modes:
        outcomes, words = [], []
        for program, (command, environment) in programs(options, mode).items():
            folder = os.path.join(here, f"{mode}-{program}")
            os.mkdir(os.path.join(system.mounts()[0], f"{mode}-{program}"))
            path = os.path.join(system.logs, f"{mode}-{program}.log")
            environment = {key: value.replace("WORK", work) for key, value in environment.items()} | {"OMPI_MCA_io": options.io, "BUILD": BUILD}
            started = time.monotonic()
            with open(path, "w", encoding="utf-8") as log:
                status = hosts.run(command, folder, environment, log, options.limit)
            outcome = "ok" if status == 0 else f"{options.limit} s and no end" if status is None else f"status {status}"
            outcomes.append(f"{program} {outcome} {time.monotonic() - started:.0f} s")
            if status != 0:
                words.append(f"    {program}: {last_words(path)}")
        well = well and not words
        say(f"{system.name:10} {mode:7} " + "  ".join(outcomes))
        for line in words:
            say(line)
    if words or options.keep:
        say(f"    logs stay in {system.logs}")
    return well


def inside(options):
    (kind,) = options.systems
    work = os.path.join(options.work, kind)
    system = SYSTEMS[kind](kind, "", os.path.join(work, "logs"))
    try:
        return 0 if try_system(options, system, work) else 1
    except NotHere as why:
        say(f"{kind:10} not tried: {why}")
        return SKIPPED
    except RuntimeError as why:
        say(f"{kind:10} cannot be made: {why}; logs in {system.logs}")
        return 1


def main():
    options = read_arguments()
    if options.check:
        return 0
    if options.inside:
        return inside(options)
    said = subprocess.run(["mpirun", "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    if "Open MPI" not in said:
        say("not tried: pseudo hosts are Open MPI's, and another MPI is here")
        return SKIPPED
    statuses = []
    for kind in options.systems:
        work = os.path.join(options.work, kind)
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(os.path.join(work, "logs"))
        namespaces = ["unshare", "--net", "--mount", "--pid", "--ipc", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"]
        try:
            SYSTEMS[kind](kind, "", "").check()
            if subprocess.run(namespaces + ["true"], stderr=subprocess.DEVNULL).returncode != 0:
                raise NotHere("no right to make namespaces")
        except NotHere as why:
            say(f"{kind:10} not tried: {why}")
            statuses.append(SKIPPED)
            continue
        arguments = [argument for argument in sys.argv[1:] if argument not in SYSTEMS and argument != "all"]
        status = subprocess.run(namespaces + [sys.executable, os.path.join(HERE, "run.py"), "--inside", *arguments, kind]).returncode
        statuses.append(status)
        if status in (0, SKIPPED) and not options.keep:
            shutil.rmtree(work, ignore_errors=True)
    tried = [status for status in statuses if status != SKIPPED]
    return SKIPPED if not tried else 0 if not any(tried) else 1


if __name__ == "__main__":
    sys.exit(main())
