"""How each file system of ./dev test-filesystems is made: its servers, its two mounts, and what it needs."""
import os
import shutil
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NOTES = "/usr/share/forebay-lacks"  # of the private root: why a package could not be installed
SERVER = "10.77.0.254"  # this side of the hosts' bridge
PATIENCE_SECONDS = 60


class NotHere(Exception):
    """A file system that cannot be made on this machine, with the reason."""


class System:
    """Lies in a folder of memory and is mounted twice; all of it ends with the namespaces that it is made in."""
    tools = ()
    kernel = ""  # its name in /proc/filesystems
    package = ""
    what = ""

    def __init__(self, name, folder, logs):
        self.name, self.folder, self.logs = name, folder, logs
        self.servers = []

    def mounts(self):
        """The two folders, for the first host and the second."""
        return [self.path("mount1"), self.path("mount2")]

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def make_folder(self, *parts):
        os.makedirs(self.path(*parts), exist_ok=True)
        return self.path(*parts)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def check(self):
        """Raises NotHere where something is missing."""
        for tool in self.tools:
            if shutil.which(tool) is None:
                note = os.path.join(NOTES, self.package or self.name)
                why = open(note, encoding="utf-8").read().strip() if os.path.exists(note) else f"there is no {tool}"
                raise NotHere(why)
        if self.kernel and not kernel_has(self.kernel):
            raise NotHere(f"this kernel has no {self.kernel}")
        if "fuse" in self.tools_of_kernel() and not os.path.exists("/dev/fuse"):
            raise NotHere("there is no /dev/fuse")

    def tools_of_kernel(self):
        return self.kernel

    def do(self, *command, refuses=""):
        """Runs a command; NotHere with `refuses` and what it says where it fails, if that is no fault of the test."""
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        with open(os.path.join(self.logs, self.name + ".log"), "a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(command)}\n{done.stdout}")
        if done.returncode == 0:
            return
        said = " ".join(done.stdout.split())[-200:] or f"exit status {done.returncode}"
        raise NotHere(f"{refuses}: {said}") if refuses else RuntimeError(f"{' '.join(command)}: {said}")

    def serve(self, *command):
        """A server in the foreground."""
        log = open(os.path.join(self.logs, f"{self.name}.{os.path.basename(command[0])}.log"), "a", encoding="utf-8")
        self.servers.append((command[0], subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)))

    def until(self, what, true):
        """Waits for `true()`; fails where it does not come, or a server has ended."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not true():
            for program, server in self.servers:
                if server.poll() is not None:
                    raise RuntimeError(f"{program} ended with {server.returncode}")
            if time.monotonic() > end:
                raise RuntimeError(f"{what} did not come within {PATIENCE_SECONDS} s")
            time.sleep(0.2)


def kernel_has(name):
    def listed():
        with open("/proc/filesystems", encoding="utf-8") as file:
            return name in file.read().split()
    if not listed() and shutil.which("modprobe"):
        subprocess.run(["modprobe", "-q", name], check=False)
    return listed()


def succeeds(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


class OnDisk(System):
    """A disk's file system in a loop device. The second mount is the first once more: one kernel has it once."""

    def start(self):
        with open(self.path("disk"), "wb") as disk:
            disk.truncate(1 << 30)
        self.do("mkfs." + self.name, "-q", self.path("disk"))
        one, two = (self.make_folder(os.path.basename(mount)) for mount in self.mounts())
        self.do("mount", "-o", "loop", self.path("disk"), one, refuses="no loop device can be mounted")
        self.do("mount", "--bind", one, two)


class Ext4(OnDisk):
    tools, kernel, what = ("mkfs.ext4",), "ext4", "a disk's, in a loop device"


class Xfs(OnDisk):
    tools, kernel, what = ("mkfs.xfs",), "xfs", "a disk's, in a loop device"


class Btrfs(OnDisk):
    tools, kernel, what = ("mkfs.btrfs",), "btrfs", "a disk's, in a loop device"


class Overlay(System):
    kernel, what = "overlay", "over two folders in memory"

    def start(self):
        layers = [self.make_folder(name) for name in ("lower", "upper", "work")]
        one, two = (self.make_folder(os.path.basename(mount)) for mount in self.mounts())
        self.do("mount", "-t", "overlay", "-o", "lowerdir={},upperdir={},workdir={}".format(*layers), "overlay", one,
                refuses="no overlay can be mounted")
        self.do("mount", "--bind", one, two)


class Fuse(System):
    """A folder in memory, by two processes that know nothing of each other: each mount has pages of its own."""
    tools, kernel, what = ("bindfs",), "fuse", "bindfs, two of one folder"

    def start(self):
        real = self.make_folder("real")
        for mount in self.mounts():
            os.makedirs(mount)
            self.do("bindfs", real, mount, refuses="FUSE cannot be mounted")


class GlusterFs(System):
    """A volume that is distributed over two bricks, with the translators that `gluster volume create` gives it."""
    tools, kernel, what = ("glusterd", "gluster", "glusterfs"), "fuse", "two bricks, distributed"

    def start(self):
        for folder in ("/var/lib/glusterd/glusterd", "/var/log/glusterfs", "/var/run/gluster", "/run/gluster"):
            os.makedirs(folder, exist_ok=True)
        definition = self.write("glusterd.vol", "volume management\n  type mgmt/glusterd\n"
                                "  option working-directory /var/lib/glusterd\n  option transport-type socket\n"
                                "  option ping-timeout 0\n  option event-threads 1\nend-volume\n")
        self.serve("glusterd", "--no-daemon", "-f", definition, "-l", os.path.join(self.logs, "glusterd.log"))
        self.until("glusterd", lambda: succeeds("gluster", "--mode=script", "pool", "list"))
        bricks = [f"{SERVER}:{self.make_folder('brick' + str(i))}" for i in (1, 2)]
        self.do("gluster", "--mode=script", "volume", "create", "tried", *bricks, "force")
        self.do("gluster", "--mode=script", "volume", "start", "tried")
        for i, mount in enumerate(self.mounts()):
            os.makedirs(mount)
            self.do("glusterfs", f"--volfile-server={SERVER}", "--volfile-id=tried",
                    f"--log-file={self.logs}/glusterfs.mount{i + 1}.log", mount)
            self.until(f"mount {i + 1}", lambda mount=mount: os.path.ismount(mount) and succeeds("ls", mount))


class MooseFs(System):
    tools, kernel, what = ("mfsmaster", "mfschunkserver", "mfsmount"), "fuse", "a master and a chunk server"

    def start(self):
        state, chunks = self.make_folder("state"), self.make_folder("chunks")
        with open(os.path.join(state, "metadata.mfs"), "wb") as metadata:
            metadata.write(b"MFSM NEW")
        common = f"WORKING_USER = root\nWORKING_GROUP = root\nDATA_PATH = {state}\nLOCK_MEMORY = 0\nNICE_LEVEL = 0\n"
        exports = self.write("exports.cfg", "* / rw,alldirs,maproot=0\n")
        topology = self.write("topology.cfg", "")
        master = self.write("master.cfg", common + f"EXPORTS_FILENAME = {exports}\nTOPOLOGY_FILENAME = {topology}\n")
        disks = self.write("disks.cfg", f"{chunks}\n")
        server = self.write("chunkserver.cfg", common + f"HDD_CONF_FILENAME = {disks}\nMASTER_HOST = {SERVER}\n"
                            "HDD_LEAVE_SPACE_DEFAULT = 16MiB\n")
        self.serve("mfsmaster", "-f", "-c", master, "start")
        self.until("the master", lambda: listens(9421))
        self.serve("mfschunkserver", "-f", "-c", server, "start")
        for mount in self.mounts():
            os.makedirs(mount)
            self.do("mfsmount", "-H", SERVER, mount)
        # The chunk server comes to the master some seconds later.
        self.until("room for files", lambda: self.takes_files())

    def takes_files(self):
        name = os.path.join(self.mounts()[0], "try")
        well = succeeds("timeout", "20", "sh", "-c", f"echo something > '{name}'")
        if well:
            os.remove(name)
        return well


class Nfs(System):
    """A user-space server, and the kernel's client twice: with caches of their own, as on two machines."""
    tools, kernel, what = ("ganesha.nfsd", "mount.nfs4"), "nfs4", "NFS 4.1, Ganesha's server"

    def start(self):
        os.makedirs("/var/run/ganesha", exist_ok=True)
        os.makedirs("/var/lib/nfs/ganesha", exist_ok=True)
        real = self.make_folder("real")
        config = self.write("ganesha.conf", "NFS_CORE_PARAM { Protocols = 4; mount_path_pseudo = true; }\n"
                            "NFSv4 { Grace_Period = 5; Lease_Lifetime = 5; Graceless = true; RecoveryBackend = fs; }\n"
                            f"EXPORT {{ Export_Id = 1; Path = {real}; Pseudo = /volume; Access_Type = RW; Squash = None;\n"
                            "  SecType = sys; Protocols = 4; Transports = TCP; FSAL { Name = VFS; } }\n")
        self.serve("ganesha.nfsd", "-F", "-f", config, "-L", os.path.join(self.logs, "ganesha.log"), "-p",
                   self.path("ganesha.pid"))
        self.until("the server", lambda: listens(2049))
        for mount in self.mounts():
            os.makedirs(mount)
            self.do("mount", "-t", "nfs4", "-o", "vers=4.1,nosharecache", f"{SERVER}:/volume", mount,
                    refuses="NFS cannot be mounted")


def listens(port):
    """Whether somebody does at this port (`ss` is not everywhere)."""
    wanted = f":{port:04X}"
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(name, encoding="utf-8") as file:
            for line in file.readlines()[1:]:
                words = line.split()
                if words[1].endswith(wanted) and words[3] == "0A":
                    return True
    return False


SYSTEMS = {"ext4": Ext4, "xfs": Xfs, "btrfs": Btrfs, "overlay": Overlay, "fuse": Fuse, "nfs": Nfs, "glusterfs": GlusterFs,
           "moosefs": MooseFs}
