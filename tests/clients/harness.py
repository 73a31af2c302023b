"""The built program on free ports: a sandbox that keeps a platform's limits, and a tidegate before it.

What a test says about time it reads from the sandbox's log, which counts platform time (a sandbox at scale 0.1 runs ten
platform seconds in one of ours), never from the clock of the machine that the test happens to run on.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import re
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

TOKEN = "1234567890:AAtidegateClientTestsTokenAAAAAAAAAAA"
GROUP = -1001000000001
SCALE = 0.1


def program() -> str:
    """The binary under test, as `cargo xtask clients` built it."""
    found = os.environ.get("CLIENTS_BIN", str(Path(__file__).parents[2] / "target/debug/tidegate"))
    assert Path(found).exists(), f"{found} is missing: run `cargo xtask clients`, or `cargo build` first"
    return found


def free_port() -> int:
    """Below the ports that the system gives to outgoing connections, so that none of those is on it by then."""
    for _ in range(100):
        port = random.randrange(15000, 32000)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


@dataclass(frozen=True)
class Call:
    """One call as the platform saw it."""

    at: float  # platform seconds since the sandbox started
    method: str
    chat: str | None
    text: str
    message: int | None
    status: int
    forced: bool  # a script decided the answer, not a limit

    @property
    def accepted(self) -> bool:
        return self.status == 200


class Process:
    """A child that must be alive as long as the test, and is ended with it."""

    def __init__(self, name: str, args: list[str], ports: list[int], folder: Path) -> None:
        self.name = name
        self.output = folder / f"{name}.log"
        # What somebody set for a tidegate of their own is not for this one.
        env = {name: value for name, value in os.environ.items() if not name.startswith("TIDEGATE_")}
        with open(self.output, "wb") as output:
            self.child = subprocess.Popen(
                [program(), *args], stdout=output, stderr=subprocess.STDOUT, cwd=folder, env=env
            )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                for port in ports:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            if self.child.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f"{name} does not answer on its port:\n{self.tail()}")

    def tail(self) -> str:
        return "\n".join(self.output.read_text(errors="replace").splitlines()[-40:])

    def end(self) -> None:
        died = self.child.poll()
        if died is None:
            self.child.terminate()
            try:
                self.child.wait(30)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
                raise AssertionError(f"{self.name} did not end within 30 s of SIGTERM:\n{self.tail()}") from None
        assert died is None, f"{self.name} died with {died}:\n{self.tail()}"
        assert "panicked" not in self.output.read_text(errors="replace"), f"{self.name} panicked:\n{self.tail()}"


class House:
    """A sandbox and a tidegate, as a context manager.

    In a private chat the judge forgives a call that is up to 250 ms of platform time early: a test that spends such a
    chat's burst takes a scale at which that is more than a busy machine's jitter.
    """

    kind = "telegram"

    def __init__(self, scale: float = SCALE, serve: bool = True) -> None:
        self.scale, self.serve = scale, serve

    def __enter__(self) -> "House":
        self.stack = contextlib.ExitStack()
        with contextlib.ExitStack() as opening:
            folder = Path(opening.enter_context(tempfile.TemporaryDirectory(prefix="tidegate-")))
            port = free_port()
            self.platform = f"http://127.0.0.1:{port}"
            arguments = ["sandbox", f"--{self.kind}", f"127.0.0.1:{port}", "--scale", str(self.scale)]
            self.sandbox = Process("sandbox", arguments, [port], folder)
            opening.callback(self.sandbox.end)
            self.base = self.platform
            if self.serve:
                self._serve(opening, folder)
            self.stack = opening.pop_all()
        return self

    def _serve(self, opening: contextlib.ExitStack, folder: Path) -> None:
        listen, admin = free_port(), free_port()
        config = folder / "tidegate.toml"
        config.write_text(
            f'listen = "127.0.0.1:{listen}"\nadmin = "127.0.0.1:{admin}"\ndata = "{folder}/data"\n'
            f'time_scale = {self.scale}\n\n[{self.kind}]\napi = "{self.platform}"\n'
        )
        self.gate = Process("serve", ["serve", "--config", str(config)], [listen, admin], folder)
        opening.callback(self.gate.end)
        self.base, self.admin = f"http://127.0.0.1:{listen}", f"http://127.0.0.1:{admin}"

    def __exit__(self, kind, error, trace) -> None:
        if error is not None:
            print("\n".join(f"{process.name}:\n{process.tail()}" for process in self.running()))
        self.stack.__exit__(kind, error, trace)

    def running(self) -> list[Process]:
        return [self.sandbox, self.gate] if self.serve else [self.sandbox]

    def control(self, path: str, body: object = None, base: str | None = None):
        """What the sandbox answers under `/__sandbox/`."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{base or self.platform}/__sandbox/{path}", data=data)
        if data is not None:
            request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text.strip() else None

    def log(self, method: str | None = None, chat: int | str | None = None) -> list[Call]:
        """Calls that reached the platform, in the order in which it took them."""
        calls = [
            Call(
                at=entry["at_ms"] / 1000,
                method=entry["method"],
                chat=entry.get("chat"),
                text=entry.get("text", ""),
                message=entry.get("message_id"),
                status=entry["status"],
                forced=entry["forced"],
            )
            for entry in self.control("log")["calls"]
        ]
        return [
            call
            for call in calls
            if (method is None or call.method == method) and (chat is None or call.chat == str(chat))
        ]

    def texts(self, method: str, chat: int | str) -> list[str]:
        """What was accepted of such calls."""
        return [call.text for call in self.log(method, chat) if call.accepted]

    def assert_no_refusal(self) -> None:
        """Zero 429 at the platform but those that a test asked for."""
        refused = [call for call in self.log() if call.status == 429 and not call.forced]
        assert not refused, f"{len(refused)} calls were refused by the platform, the first: {refused[0]}"

    def script(self, answer: object, method: str | None = None, chat: int | str | None = None, times: int = 1) -> None:
        """What the platform's next answers to such calls are."""
        self.control("script", {"method": method, "chat": chat, "times": times, "answer": answer})

    def refuse_next(self, method: str, chat: int | str | None, retry_after: int, times: int = 1) -> None:
        """They are a 429, and the chat or the method is banned for as long."""
        self.script({"kind": "429", "retry_after": retry_after}, method, chat, times)

    def taken(self) -> int:
        """Calls that tidegate has taken before its gate, whatever became of them."""
        with urllib.request.urlopen(f"{self.admin}/v1/status", timeout=30) as answer:
            bots = json.load(answer)["bots"]
        counters = [counter for bot in bots for counter in bot["counters"]]
        return sum(counter["count"] for counter in counters if counter["outcome"] == "accepted")

    async def in_turn(self, calls) -> list[asyncio.Task]:
        """Starts each call when the one before has come to the gate. Calls that are only started one after the other
        race each other over their connections."""
        tasks = []
        for call in calls:
            before = self.taken()
            tasks.append(asyncio.create_task(call))
            await self.until(lambda before=before: self.taken() > before)
        return tasks

    async def until(self, holds, real_seconds: float = 60) -> None:
        """Waits until it holds."""
        deadline = time.monotonic() + real_seconds
        pause = 0.005
        while not holds():
            assert time.monotonic() < deadline, "it never came to that"
            await asyncio.sleep(pause)
            # What takes long is looked at less often: the processor is the other tests' too.
            pause = min(pause * 1.2, 0.05)

    def sleep(self, platform_seconds: float):
        """Lets so much platform time pass."""
        return asyncio.sleep(platform_seconds * self.scale)


@contextlib.contextmanager
def run(scenario, refusals: bool = False, **house):
    """A scenario in a house of its own, which is given on for what the log must show.

    With no call refused by the platform but those that the scenario asked for, unless `refusals`.
    """
    with House(**house) as opened:
        asyncio.run(scenario(opened))
        if not refusals:
            opened.assert_no_refusal()
        yield opened


def number(text: str) -> int:
    """The number behind the `#` of a text."""
    return int(re.search(r"#(\d+)", text).group(1))


def numbers(calls: list[Call]) -> list[int]:
    return [number(call.text) for call in calls]


def most_in_any(calls: list[Call], seconds: float) -> int:
    """The most accepted calls in any period of this length."""
    times = [call.at for call in calls if call.accepted]
    return max(sum(1 for other in times if start <= other < start + seconds) for start in times)


def assert_in_order(found: list[int], race: int) -> None:
    """Each comes behind all lower ones, but for the last `race` before it.

    Calls that are started together race over their connections before anybody but their client can know their order.
    """
    highest = -1
    for one in found:
        assert one >= highest - race, f"{one} behind {highest}: {found}"
        highest = max(highest, one)
