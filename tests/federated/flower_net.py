"""A SuperLink and SuperNodes on loopback, with TLS and registered keys, in processes of their own."""

import os
import signal
import socket
import subprocess
import sysconfig
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from partita.federated.certs import make_certificates
from partita.federated.flower_run import quiet_environment

NAME = "trial"
STARTING = 90.0


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Network:
    """Processes started here, each in a group of its own, and the folder they write to."""

    def __init__(self, folder, sites):
        self.folder = folder
        self.port = free_port()
        self.nodes = {}
        self.groups = []
        (folder / "home").mkdir()
        (folder / "home" / "config.toml").write_text(
            f'[superlink]\ndefault = "{NAME}"\n[superlink.{NAME}]\naddress = "127.0.0.1:{self.port}"\n'
            f'root-certificates = "{folder}/trust/ca.pem"\n'
        )
        make_certificates(folder / "trust", sites, hosts=("localhost", "127.0.0.1"))
        self.environment = {
            **quiet_environment(),
            "FLWR_HOME": str(folder / "home"),
            "PATH": f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}",
        }

    def start(self, name, command, *words):
        """One of Flower's commands in the background."""
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [Path(sysconfig.get_path("scripts")) / command, *map(str, words)],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.groups.append(process)
        return process

    def log(self, name):
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def superlink(self):
        process = self.start(
            "superlink",
            "flower-superlink",
            "--ssl-certfile",
            self.folder / "trust" / "coordinator.pem",
            "--ssl-keyfile",
            self.folder / "trust" / "coordinator.key",
            "--ssl-ca-certfile",
            self.folder / "trust" / "ca.pem",
            "--port",
            self.port,
            "--enable-supernode-auth",
            "--disable-runtime-dependency-installation",
        )
        end = time.monotonic() + STARTING
        while True:
            assert process.poll() is None and time.monotonic() < end, self.log("superlink")[-2000:]
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.2)

    def register(self, name):
        """Make a key for a SuperNode and let the SuperLink know it under this name."""
        public = make_key(self.folder, name)
        subprocess.run(
            [Path(sysconfig.get_path("scripts")) / "flwr", "supernode", "register", public, NAME, "--name", name],
            env=self.environment,
            check=True,
            capture_output=True,
        )

    def node(self, name, site_file):
        """Start a SuperNode."""
        self.nodes[name] = self.start(
            name,
            "flower-supernode",
            "--root-certificates",
            self.folder / "trust" / "ca.pem",
            "--superlink",
            f"127.0.0.1:{self.port}",
            "--auth-supernode-private-key",
            self.folder / f"{name}.ssh",
            "--port",
            free_port(),
            "--node-config",
            f'site-config="{site_file}"',
        )
        return self.nodes[name]

    def kill(self, name):
        """End a SuperNode and all its processes at once."""
        os.killpg(self.nodes[name].pid, signal.SIGKILL)
        self.nodes[name].wait()

    def end(self, name):
        """Let a SuperNode take its leave, so that its key can come again at once."""
        self.nodes[name].terminate()
        self.nodes[name].wait(30)
        with suppress(ProcessLookupError):
            os.killpg(self.nodes[name].pid, signal.SIGKILL)

    def revive(self, name, site_file):
        """Start a SuperNode that was killed; the SuperLink refuses it until it has noticed, which takes a minute."""
        end = time.monotonic() + 150
        while time.monotonic() < end:
            before = self.log(name).count("SuperNode ID")
            process = self.node(name, site_file)
            while process.poll() is None:
                if self.log(name).count("SuperNode ID") > before:
                    return
                time.sleep(0.2)
            time.sleep(2)
        raise AssertionError(self.log(name)[-2000:])

    def stop(self):
        for process in reversed(self.groups):
            for sign in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(process.pid, sign)
                    process.wait(10)
                except (ProcessLookupError, subprocess.TimeoutExpired):
                    continue


@contextmanager
def network(folder, sites):
    """A SuperLink, and nothing left running afterwards."""
    net = Network(folder, sites)
    try:
        net.superlink()
        yield net
    finally:
        net.stop()


def make_key(folder, name):
    """A key pair as ssh-keygen makes it; the path of the public one."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP384R1())
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.OpenSSH, form.NoEncryption())
    (folder / f"{name}.ssh").write_bytes(private)
    public = key.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH)
    (folder / f"{name}.ssh.pub").write_bytes(public)
    return folder / f"{name}.ssh.pub"
