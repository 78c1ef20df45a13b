#!/usr/bin/env python3
"""Real applications, unmodified, on the stock MPI-IO and under `forebay run`: each file has to be served by Forebay and to
hold what ROMIO's holds, and the time is told as a ratio.

  ./dev test-apps [OPTION...] [APPLICATION...]    those whose names are given, or begin so; without a name, all
  ./dev test-apps list                            names them, and the line that runs each under Forebay

A first round, which is not timed, checks that Forebay's report names every file. The contents are compared in every
round. The time is the application's own, from the file's creation to the end of close; the ratio is the faster stock
driver's median over Forebay's, with the least and the greatest of the rounds. In the private root the applications are
Debian's, installed once into a root of their own (4 minutes, 280 MB to fetch, 3.1 GB on disk); on a machine with its
own stack, those that it has. Exit status 1: something failed, or nothing could be tried."""
import argparse
import glob
import importlib.util
import json
import os
import random
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
NOTES = "/usr/share/forebay-lacks"  # of the private root: why something could not be installed
LIMIT_SECONDS = 300
sys.dont_write_bytecode = True  # this folder is the checkout

# Name; what of tests/apps/packages it needs; its file; the command, where n is the number of steps, and how many these are.
APPLICATIONS = [
    ("adios2-512", "adios2", "out.h5", "python3 adios2_steps.py FILE 512 {n} 256", 40),
    ("adios2-2k", "adios2", "out.h5", "python3 adios2_steps.py FILE 2048 {n} 256", 20),
    ("dolfinx", "dolfinx", "out.xdmf", "python3 dolfinx_xdmf.py FILE 24 {n}", 20),
    ("h5netcdf", "h5netcdf", "out.nc", "python3 h5netcdf_columns.py FILE 800 4 {n}", 20),
    ("h5netcdf-collective", "h5netcdf", "out.nc", "python3 h5netcdf_columns.py FILE 800 4 {n} collective", 20),
    ("h5py", "h5py", "out.h5", "python3 h5py_blocks.py FILE 256 4 {n}", 40),
    ("h5py-collective", "h5py", "out.h5", "python3 h5py_blocks.py FILE 256 4 {n} collective", 40),
    ("lammps", "lammps", "out.nc", "lmp -in lammps_melt.in -log none -var n 12 -var steps {n} -var file FILE", 20),
    ("meep", "meep", "out", "python3 meep_fields.py FILE 32 {n}", 8),
    ("netcdf-c-hdf5", "netcdf-c", "out.nc", "WORK/netcdf_history FILE hdf5 256 8 {n}", 10),
    ("netcdf-c-hdf5-independent", "netcdf-c", "out.nc", "WORK/netcdf_history FILE hdf5 256 8 {n} independent", 20),
    ("netcdf-c-pnetcdf", "netcdf-c", "out.nc", "WORK/netcdf_history FILE pnetcdf 256 8 {n}", 40),
    ("netcdf-c-pnetcdf-independent", "netcdf-c", "out.nc", "WORK/netcdf_history FILE pnetcdf 256 8 {n} independent", 40),
    ("petsc-grid", "petsc", "out.h5", "python3 petsc_grid.py FILE 80 {n}", 20),
    ("petsc-grid-steps", "petsc", "out.h5", "python3 petsc_grid.py FILE 80 {n} steps", 20),
    ("petsc-grid-19k", "petsc", "out.h5", "python3 petsc_grid.py FILE 19k {n}", 8),
    ("petsc-mesh", "petsc", "out.h5", "python3 petsc_mesh.py FILE 16 {n}", 8),
]
MODULES = {"adios2": "adios2", "dolfinx": "dolfinx", "h5netcdf": "h5netcdf", "h5py": "h5py", "meep": "meep", "petsc": "petsc4py"}
TITLES = {"romio": "ROMIO", "stock": "default", "forebay": "Forebay", "strict": "strict"}


class NotTried(Exception):
    """An application that cannot be run here, with the reason."""


class Failed(Exception):
    """A run that went wrong."""


def build_netcdf(work):
    """Compiles the program that calls netCDF-C, which Debian keeps in several builds."""
    program = os.path.join(work, "netcdf_history")
    if os.path.exists(program):
        return
    for name in ("netcdf-pnetcdf", "netcdf-mpi", "netcdf"):
        told = subprocess.run(["pkg-config", "--cflags", "--libs", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
        if told.returncode == 0:
            break
    else:
        raise NotTried("pkg-config knows no netCDF-C")
    own = ["-I" + d for d in glob.glob("/usr/lib/*/netcdf/%s/include" % name.replace("netcdf-", ""))]
    command = ["mpicc", "-O2", "-o", program, HERE + "/netcdf_history.c"] + own + shlex.split(told.stdout)
    told = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if told.returncode:
        raise NotTried("netCDF-C without parallel access: %s" % first_line(told.stdout, "error"))


def first_line(text, word):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if word in line), lines[-1] if lines else "nothing said")[:200]


def look_for(need, work):
    """Raises NotTried where the application is not there."""
    note = os.path.join(NOTES, need)
    if os.path.exists(note):
        with open(note) as file:
            raise NotTried("not installed: " + file.read().strip())
    for module in ["mpi4py", MODULES[need]] if need in MODULES else []:
        if importlib.util.find_spec(module) is None:
            raise NotTried("no Python module " + module)
    if need == "lammps":
        if shutil.which("lmp") is None:
            raise NotTried("no program lmp")
        told = subprocess.run(["lmp", "-h"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        if "netcdf/mpiio" not in told:
            raise NotTried("lmp was built without netcdf/mpiio")
    if need == "netcdf-c":
        build_netcdf(work)


def words_of(application, size, path, work):
    command = application[3].format(n=application[4] * size)
    words = [path if w == "FILE" else w.replace("WORK", work) for w in command.split()]
    return [os.path.join(HERE, w) if w.endswith((".py", ".in")) else w for w in words]


def find_romio():
    """Open MPI's name for ROMIO, or None where it has none, or the MPI is another one."""
    if shutil.which("ompi_info") is None:
        return None
    told = subprocess.run(["ompi_info", "--parsable"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    found = re.search(r"mca:io:(romio[0-9]+):", told)
    return found and found.group(1)


class Session:
    def __init__(self, options, work):
        self.options, self.work, self.began, self.shown = options, work, time.monotonic(), False
        self.romio = find_romio()
        self.ours = ["forebay", "strict"] if options.all else ["forebay"]
        self.peers = (["romio"] if self.romio else []) + ["stock"] + self.ours
        self.environment = dict(os.environ, XDG_CACHE_HOME=work + "/cache", MPLBACKEND="agg")
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            self.environment.setdefault(name, "1")

    def show(self, text):
        line = "[%4ds] %s" % (time.monotonic() - self.began, text)
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K" + line[:shutil.get_terminal_size().columns - 1])
            self.shown = True
        else:
            sys.stderr.write(line + "\n")
        sys.stderr.flush()

    def end_line(self):
        if self.shown:
            sys.stderr.write("\r\033[K")
            self.shown = False

    def run(self, application, peer, report=None):
        """Runs it once: the folder that it wrote, and its own seconds."""
        folder = os.path.join(self.work, peer)
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        environment = self.environment
        if peer == "romio":
            environment = dict(environment, OMPI_MCA_io=self.romio)
        under = [self.options.forebay, "run"] if peer in self.ours else []
        under += ["--stats", report] if under and report else []
        under += ["--mode", "strict"] if peer == "strict" else []
        command = ["mpiexec", "-n", str(self.options.ranks)] + under
        command += words_of(application, self.options.size, os.path.join(folder, application[2]), self.work)
        process = subprocess.Popen(command, cwd=self.work, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        try:
            said = process.communicate(timeout=LIMIT_SECONDS)[0]
        except subprocess.TimeoutExpired:
            raise Failed("%s: not done after %d s: %s" % (TITLES[peer], LIMIT_SECONDS, shlex.join(command))) from None
        finally:
            if process.poll() is None:  # the launcher ends its ranks where it is told to end
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        if process.returncode:
            raise Failed("%s: exit status %d: %s\n%s" % (TITLES[peer], process.returncode, shlex.join(command), said[-1500:]))
        # LAMMPS tells the seconds of its output itself.
        told = re.search(r"IO seconds ([0-9.]+)", said) or re.search(r"^Output *\|[^|]*\|[^|]*\| *([0-9.]+)", said, re.M)
        if told is None:
            raise Failed("%s: tells no time: %s\n%s" % (TITLES[peer], shlex.join(command), said[-1500:]))
        return folder, float(told.group(1)), [line for line in said.splitlines() if line.startswith("forebay")]


def unserved(folder, report):
    """What of a folder's files the report does not name as Forebay's, with the reason."""
    from compare import files_in, kind
    try:
        with open(report) as file:
            told = {os.path.realpath(f["path"]): f for f in json.load(file)["files"]}
    except (OSError, KeyError, ValueError) as error:
        return ["no report: %s" % error]
    bad = ["%s: %s" % (path, "; ".join(f["stock"]["reasons"]) or "not active")
           for path, f in told.items() if not f["active"] or f["stock"]["opens"]]
    files = [os.path.realpath(os.path.join(folder, n)) for n in files_in(folder) if kind(os.path.join(folder, n)) != "other"]
    return bad + ["%s: not in the report" % f for f in files if f not in told] + ([] if files else ["no file was written"])


class Result:
    def __init__(self, application):
        self.application, self.name = application, application[0]
        self.seconds, self.served, self.same, self.reason, self.problems, self.notes = {}, None, None, None, [], []

    def failed(self):
        return bool(self.problems)

    def ratio(self, peer):
        """The faster stock driver's median over this one's, and the least and the greatest of the rounds."""
        stock = [s for s in ("romio", "stock") if self.seconds.get(s)]
        if not stock or not self.seconds.get(peer):
            return None
        fastest = min(stock, key=lambda s: statistics.median(self.seconds[s]))
        rounds = [a / b for a, b in zip(self.seconds[fastest], self.seconds[peer])]
        return statistics.median(self.seconds[fastest]) / statistics.median(self.seconds[peer]), min(rounds), max(rounds)


def one_round(session, result, number):
    """Runs an application under each peer. Round 0 is the one with the report, and without times."""
    from compare import folders_differ
    order, folders, times = session.peers[:], {}, {}
    random.shuffle(order)
    for peer in order:
        session.show("round %d of %d: %s, %s" % (number, session.options.reps, result.name, TITLES[peer]))
        report = os.path.join(session.work, peer + ".json") if number == 0 and peer in session.ours else None
        folders[peer], times[peer], said = session.run(result.application, peer, report)
        result.notes += [line for line in said if line not in result.notes]
        if report:
            bad = unserved(folders[peer], report)
            result.served = result.served is not False and not bad
            result.problems += ["%s did not serve %s" % (TITLES[peer], what) for what in bad]
    first = session.peers[0]
    for peer in session.peers[1:]:
        difference = folders_differ(folders[first], folders[peer])
        result.same = result.same is not False and not difference
        if difference:
            result.problems.append("%s and %s differ: %s" % (TITLES[first], TITLES[peer], " ".join(difference.split())))
            if session.options.keep:
                for kept in (first, peer):
                    shutil.copytree(folders[kept], os.path.join(session.work, "differs", result.name, kept), dirs_exist_ok=True)
    for peer in session.peers:
        shutil.rmtree(folders[peer])
        if number > 0:
            result.seconds.setdefault(peer, []).append(times[peer])


def table(session, results):
    width = max(len("seconds, medians"), max(len(r.name) for r in results))
    words = {True: "yes", False: "NO", None: "-"}
    print("%-*s%s%s  served  same" % (width, "seconds, medians", "".join("%10s" % TITLES[p] for p in session.peers),
                                      "".join("%22s" % ("ratio, " + TITLES[p]) for p in session.ours)))
    for r in results:
        if r.reason:
            print("%-*s  not tried: %s" % (width, r.name, r.reason))
            continue
        times = ["%10.4f" % statistics.median(r.seconds[p]) if r.seconds.get(p) else "%10s" % "-" for p in session.peers]
        ratios = ["%22s" % ("%.2f (%.2f to %.2f)" % r.ratio(p) if r.ratio(p) else "-") for p in session.ours]
        print("%-*s%s%s  %-6s  %s" % (width, r.name, "".join(times), "".join(ratios), words[r.served], words[r.same]))


def as_json(session, results, load):
    options = session.options
    return {"rounds": options.reps, "ranks": options.ranks, "size": options.size, "load": load, "applications": [
        {"name": r.name, "not_tried": r.reason, "seconds": r.seconds, "served": r.served, "same": r.same,
         "ratio": {p: r.ratio(p)[0] for p in session.ours if r.ratio(p)}, "problems": r.problems, "said": r.notes}
        for r in results]}


def rounds(session, results):
    for result in results:
        try:
            look_for(result.application[1], session.work)
        except NotTried as reason:
            result.reason = str(reason)
    for number in range(session.options.reps + 1):
        for result in results:
            if result.reason or result.failed():
                continue
            try:
                one_round(session, result, number)
            except Failed as error:
                result.problems.append(str(error))
            if result.failed():
                session.end_line()
                print("%s: %s" % (result.name, result.problems[0].splitlines()[0]), file=sys.stderr)
    session.end_line()


def test(options, chosen):
    load = os.getloadavg()[0]
    results = [Result(a) for a in chosen]
    session = Session(options, os.path.realpath(tempfile.mkdtemp(prefix="forebay-apps-", dir=options.dir)))
    try:
        rounds(session, results)
    finally:
        if not os.path.exists(session.work + "/differs"):
            shutil.rmtree(session.work, ignore_errors=True)
    table(session, results)
    print("\n%d ranks, %d rounds, load %.1f at the start%s" % (options.ranks, options.reps, load,
          ": too busy a machine for the ratios to mean much" if load > 1 else ""))
    for result in results:
        for line in result.problems:
            print("FAIL %s: %s" % (result.name, line))
        for line in result.notes:
            print("%s says: %s" % (result.name, line))
    if os.path.exists(session.work):
        print("kept: %s/differs" % session.work)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(as_json(session, results, load), file, indent=1)
    return 1 if any(r.failed() for r in results) or all(r.reason for r in results) else 0


def main():
    parser = argparse.ArgumentParser(prog="./dev test-apps", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter, add_help=False,
                                     usage="./dev test-apps [list | OPTION...] [APPLICATION...]")
    parser.add_argument("applications", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("-h", "--help", action="help", help="this")
    parser.add_argument("--reps", type=int, default=2, metavar="N", help="timed rounds (%(default)s)")
    parser.add_argument("--ranks", type=int, default=4, metavar="N", help="ranks (%(default)s)")
    parser.add_argument("--size", type=int, default=1, metavar="N", help="as many times the steps (%(default)s)")
    parser.add_argument("--dir", metavar="DIR", help="where the files are written (/dev/shm, or the folder for temporary files)")
    parser.add_argument("--all", action="store_true", help="strict mode, too")
    parser.add_argument("--keep", action="store_true", help="keep the files that differ")
    parser.add_argument("--json", metavar="FILE", help="all times and results, as JSON")
    options = parser.parse_args()
    chosen = options.applications
    if "list" in chosen:
        for a in APPLICATIONS:
            command = a[3].format(n=a[4] * options.size).replace("FILE", a[2]).replace("WORK/", "./")
            print("%-29s mpiexec -n %d forebay run %s" % (a[0], options.ranks, command))
        return 0
    if min(options.reps, options.ranks, options.size) < 1:
        parser.error("--reps, --ranks and --size are at least 1")
    for name in chosen:
        if not any(a[0].startswith(name) for a in APPLICATIONS):
            parser.error("no application '%s'; ./dev test-apps list names them" % name)
    try:
        from h5py import File as _
    except ImportError:
        parser.error("h5py is missing, which compares the files")
    options.forebay = os.path.join(TOP, "build", os.environ.get("FOREBAY_BUILD_PREFIX", "") + "release/tools/forebay")
    options.dir = options.dir or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    if options.dir:
        os.makedirs(options.dir, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return test(options, [a for a in APPLICATIONS if not chosen or any(a[0].startswith(name) for name in chosen)])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
