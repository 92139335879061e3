"""Commands as targets, against real processes: good ones, and ones that fail in every way we know."""

from __future__ import annotations

import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.errors import DoubtWarning
from fidelitree.targets import Command, load_model
from fidelitree.targets.models import process

if TYPE_CHECKING:
    from collections.abc import Callable

BITS = ((np.arange(16)[:, None] >> np.arange(4)) & 1).astype(np.uint8)
LOOP = "import json, sys\nfor line in sys.stdin:\n    x = json.loads(line)\n    "


def python(program: str, **options: Any) -> Command:
    return Command([sys.executable, "-c", program], **options)


def echo(answer: str, **options: Any) -> Command:
    """A command that answers every input with an expression of x."""
    return python(LOOP + f"print({answer}, flush=True)", **options)


def failure(command: Command, batch: Any = BITS) -> str:
    """The message without the command's own text, which is the program."""
    with pytest.raises(ft.TargetError) as error:
        command(batch)
    start = f"the command {command.name!r} "
    assert str(error.value).startswith(start)
    return str(error.value).removeprefix(start)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A zombie that nobody has waited for is dead all the same.
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2] if Path("/proc").is_dir() else True


def comes_true(condition: Callable[[], bool]) -> bool:
    """Whether something that another process does happens in time."""
    deadline = time.monotonic() + 120
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def gone(pid: int) -> bool:
    return comes_true(lambda: not alive(pid))


class TestWhatItReceives:
    def test_one_object_a_line_with_the_names_of_an_array(self) -> None:
        with echo("json.dumps(json.dumps(x))") as command:
            assert [json.loads(text) for text in command(BITS[:2]).tolist()] == [
                {"x0": 0, "x1": 0, "x2": 0, "x3": 0},
                {"x0": 1, "x1": 0, "x2": 0, "x3": 0},
            ]
        with echo("json.dumps(json.dumps(x))", names=["a", "b", "c", "d"]) as command:
            assert command(BITS[5:6]).tolist() == ['{"a": 1, "b": 0, "c": 1, "d": 0}']

    def test_values_of_a_dict_keep_their_kind(self) -> None:
        batch = {
            "age": np.array([41, 17]),
            "height": np.array([1.5, np.nan]),
            "job": np.array(["nurse", "piloté"]),
            "owner": np.array([True, False]),
        }
        with echo("json.dumps(json.dumps(x))") as command:
            assert [json.loads(text) for text in command(batch).tolist()] == [
                {"age": 41, "height": 1.5, "job": "nurse", "owner": True},
                {"age": 17, "height": None, "job": "piloté", "owner": False},
            ]

    @pytest.mark.parametrize("value", [np.inf, b"bytes", {1}])
    def test_what_json_cannot_say_is_an_error(self, value: Any) -> None:
        column = np.empty(1, object)
        column[0] = value
        with echo("0") as command, pytest.raises(ft.ParameterError, match="must be numbers, truth values or text: "):
            command({"x": column})


class TestWhatItAnswers:
    @pytest.mark.parametrize(
        ("answer", "labels"),
        [
            ("x['x0']", [0, 1]),
            ("json.dumps(x['x0'] == 1)", [False, True]),
            ("'yes' if x['x0'] else 'no'", ["no", "yes"]),
            ("json.dumps('1' if x['x0'] else '0')", ["0", "1"]),
            ("float(x['x0'])", [0, 1]),
            ("str(x['x0']) + '.'", [0, 1]),
            ("'  très bien  ' if x['x0'] else 'so so\\r'", ["so so", "très bien"]),
        ],
    )
    def test_labels_as_json_or_as_bare_text(self, answer: str, labels: list[Any]) -> None:
        with echo(answer) as command:
            found = command(BITS[:2]).tolist()
        assert found == labels
        assert [type(label) for label in found] == [type(label) for label in labels]

    @pytest.mark.parametrize(
        "garbage", ["0.25", "float('nan')", "'null'", "'[1]'", "json.dumps(x)", "''", "'Infinity'", "'\"\"'"]
    )
    def test_what_is_no_label_is_quoted(self, garbage: str) -> None:
        with echo(f"{garbage} if x['x1'] else 1") as command, pytest.raises(ft.TargetError) as error:
            command(BITS)
        message = str(error.value)
        assert message.startswith(
            "a command must answer each input with a label: a whole number, a truth value or text"
        )
        assert message.endswith(" to input 2 of a batch")

    def test_bytes_that_are_no_text(self) -> None:
        program = "import sys\nfor line in sys.stdin:\n    sys.stdout.buffer.write(b'\\xff\\xfe\\n')"
        flushing = program + "\n    sys.stdout.flush()"
        with python(flushing) as command, pytest.raises(ft.TargetError, match=r"answered b.* to input 0 of a batch"):
            command(BITS)

    def test_two_kinds_in_one_batch(self) -> None:
        with echo("'yes' if x['x0'] else 0") as command, pytest.raises(ft.TargetError) as error:
            command(BITS)
        assert str(error.value) == (
            "labels must be of one kind; the command answered int and str in one batch: '0', 'yes'"
        )


class TestFailures:
    def test_one_that_dies_is_quoted(self) -> None:
        program = LOOP + "print(x['x0'], flush=True)\n    if x['x2']: sys.exit('the licence has expired')"
        message = failure(python(program))
        assert message == (
            "ended with exit code 1 after 5 of 16 labels. Its last words on standard error: the licence has expired"
        )

    def test_one_that_dies_at_once(self) -> None:
        message = failure(python("import sys; sys.exit(3)"))
        assert message == "ended with exit code 3 after 0 of 16 labels. It said nothing on standard error."

    def test_one_killed_by_a_signal(self) -> None:
        program = LOOP + "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
        assert failure(python(program)).startswith("ended with exit code -9 after 0 of 16 labels.")

    def test_one_that_answers_too_few_and_ends(self) -> None:
        program = "import sys\nfor number, line in zip(range(4), sys.stdin): print(1)"
        assert failure(python(program)).startswith("ended with exit code 0 after 4 of 16 labels.")

    def test_one_that_waits_for_the_end_of_its_input(self) -> None:
        assert failure(python("import sys\nfor line in sys.stdin.readlines(): print(1)", timeout=0.5)) == (
            "was silent for 0.5 seconds after 0 of 16 labels, and was killed. It must answer every line at once and "
            "flush its output, without waiting for the end of its input: mawk needs -W interactive, python -u, and "
            "other programs run under stdbuf -oL; a slow one needs a larger timeout. "
            "It said nothing on standard error."
        )

    def test_one_that_is_silent_at_first_is_told_why_it_may_be(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(process, "SILENT", 0.1)
        slow = python("import sys, time\ntime.sleep(1)\nfor line in sys.stdin: print(1, flush=True)")
        with slow:
            with pytest.warns(DoubtWarning, match=r"silent for 0\.1 seconds after 0 of 16 labels\. .* mawk needs"):
                assert slow(np.zeros((16, 2))).tolist() == [1] * 16
            assert slow(np.zeros((16, 2))).tolist() == [1] * 16, "and once only"

    def test_one_that_answers_too_few_and_waits(self) -> None:
        program = "import sys\nfor number, line in enumerate(sys.stdin):\n    if number < 4: print(1, flush=True)"
        assert failure(python(program, timeout=3.0)).startswith("was silent for 3 seconds after 4 of 16 labels")

    @pytest.mark.skipif(os.name != "posix", reason="it is a POSIX shell")
    def test_one_that_hangs_is_killed_with_what_it_started(self, tmp_path: Path) -> None:
        note = tmp_path / "pid"  # a shell is there at once, however busy the machine
        command = Command(["sh", "-c", f"sleep 600 & echo $! > '{note}'; wait"], timeout=3.0)
        assert failure(command).startswith("was silent for 3 seconds after 0 of 16 labels, and was killed.")
        assert gone(int(note.read_text()))

    def test_one_that_never_reads_a_batch_larger_than_the_pipe(self) -> None:
        many = np.tile(BITS, (5_000, 1))
        assert failure(python("import time; time.sleep(600)", timeout=0.5), many).startswith(
            "was silent for 0.5 seconds"
        )
        program = f"import time; input(); print('1\\n' * {len(many)}, end='', flush=True); time.sleep(600)"
        assert failure(python(program, timeout=5.0), many).startswith(
            f"answered {len(many)} labels without reading its {len(many)} inputs."
        )

    def test_one_that_answers_too_many_at_once(self) -> None:
        """A short write arrives in one piece."""
        assert failure(python("input(); print('1\\n' * 17, end='', flush=True); input()")).startswith(
            "answered more labels than the 16 inputs it received: b'1\\n' came unasked."
        )

    @pytest.mark.parametrize("extra", ["loading ...", "1\\n1"])
    def test_one_that_answers_too_many(self, extra: str) -> None:
        """Whether the surplus is seen with the batch, before the next or at the end depends on when it arrives."""
        program = f"print('{extra}', flush=True)\n" + LOOP + "print('good' if x['x0'] else 'bad', flush=True)"
        with (
            pytest.raises(ft.TargetError, match=r"answered more labels than .* came unasked"),
            python(program) as command,
        ):
            command(BITS)

    def test_more_labels_before_the_next_batch(self) -> None:
        command = python(
            LOOP + "print(1, flush=True)\n    if x['x0']: import time; time.sleep(1); print(7, flush=True)"
        )
        assert command(BITS[:2]).tolist() == [1, 1]
        assert comes_true(lambda: not command._process._answers.empty())
        assert failure(command, BITS[:2]).startswith("answered more labels than it received inputs: b'7")

    def test_a_line_after_the_last_label(self) -> None:
        command = python(LOOP + "print(1, flush=True)\nprint('done')")
        assert command(BITS).tolist() == [1] * 16
        with pytest.raises(ft.TargetError, match=r"answered more labels than it received inputs: b'done"):
            command.close()

    def test_one_that_cannot_start(self, tmp_path: Path) -> None:
        with pytest.raises(ft.TargetError) as error:
            Command("no-such-program --fast")(BITS)
        assert str(error.value) == "the command 'no-such-program' cannot be started: No such file or directory"
        (tmp_path / "data.csv").write_text("1")
        with pytest.raises(ft.TargetError, match="cannot be started: Permission denied"):
            Command([str(tmp_path / "data.csv")])(BITS)

    def test_a_failure_is_followed_by_a_new_process(self, tmp_path: Path) -> None:
        program = (
            f"import os, sys\nfirst = not os.path.exists({str(tmp_path / 'seen')!r})\n"
            f"open({str(tmp_path / 'seen')!r}, 'w').close()\nif first: sys.exit(1)\n"
        )
        with python(program + LOOP + "print(x['x0'], flush=True)") as command:
            assert "ended with exit code 1" in failure(command)
            assert command(BITS).tolist() == BITS[:, 0].tolist()

    def test_a_long_complaint_neither_blocks_nor_fills_the_message(self) -> None:
        program = "import sys\nfor number in range(40_000): print('line', number, file=sys.stderr)\n"
        with python(program + LOOP + "print(x['x0'], flush=True)") as command:
            assert command(BITS).tolist() == BITS[:, 0].tolist()
        message = failure(python(program + "sys.exit(2)"))
        assert message.startswith("ended with exit code 2 after 0 of 16 labels.")
        assert message.endswith("line 39999")
        assert len(message) < 800


class TestFloods:
    """More than anybody asked for: bytes are limited, and time passes while they come."""

    def test_one_that_never_ends_its_line(self) -> None:
        program = "import sys\nsys.stdin.readline()\nwhile True: sys.stdout.write('x' * 65536)"
        assert failure(python(program)).startswith(
            "answered a line of more than 65,536 bytes after 0 of 16 labels, and was killed."
        )

    def test_one_that_drips_bytes_and_ends_no_line(self) -> None:
        program = "import os, time\ninput()\nwhile True: os.write(1, b'x'); time.sleep(0.01)"
        assert failure(python(program, timeout=2.0)).startswith("finished no line for 2 seconds after 0 of 16 labels")

    def test_one_whose_labels_are_books(self) -> None:
        many = np.tile(BITS, (200, 1))
        program = f"import sys\nsys.stdin.readline()\nfor _ in range({len(many)}): print('y' * 60_000)"
        assert failure(python(program), many).startswith(
            f"answered more than 67,108,864 bytes to {len(many)} inputs, and was killed."
        )

    def test_one_that_floods_its_standard_error(self) -> None:
        program = "import sys\nwhile True: sys.stderr.write('x' * 65536)"
        message = failure(python(program, timeout=2.0))
        assert message.startswith("was silent for 2 seconds after 0 of 16 labels")
        assert len(message) < 1_000

    @pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read off /proc")
    def test_what_waits_unread_is_limited(self) -> None:
        program = "import sys\nsys.stdin.readline()\nwhile True: sys.stdout.write('1\\n' * 32768)"
        command = python(program)
        with pytest.raises(ft.TargetError, match="answered more labels than the 1 inputs it received"):
            command(BITS[:1])
        program = (
            "import sys\nfor line in sys.stdin: print(1, flush=True)\nwhile True: sys.stdout.write('1\\n' * 32768)"
        )
        command = python(program)
        assert command(BITS).tolist() == [1] * 16
        process = command._process
        assert process is not None
        process._requests.put(b"")  # the end of its input, after which it floods
        assert comes_true(lambda: process._answers.qsize() >= 64)
        time.sleep(0.5)
        assert process._answers.qsize() == 64
        with pytest.raises(ft.TargetError, match="came unasked"):
            command.close()


HOST = """
import sys, time
import numpy as np
from fidelitree.targets import Command
command = Command([sys.executable, "-c", sys.argv[1]])
print(command(np.zeros((1, 1), np.uint8))[0], flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(os.name != "posix", reason="the watchdog is a POSIX shell")
class TestHost:
    @pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
    def test_a_command_that_hangs_does_not_outlive_its_host(self, end: signal.Signals) -> None:
        program = (
            "import os, signal, time; signal.signal(signal.SIGHUP, signal.SIG_IGN); input(); "
            "print(os.getpid(), flush=True); time.sleep(600)"
        )
        host = subprocess.Popen([sys.executable, "-c", HOST, program], stdout=subprocess.PIPE, text=True)
        with host:
            assert host.stdout is not None
            pid = int(host.stdout.readline())
            assert alive(pid)
            host.send_signal(end)
        assert gone(pid)

    def test_the_watchdog_ends_with_its_process(self) -> None:
        with echo("x['x0']") as command:
            command(BITS)
            process = command._process
            assert process is not None
            watchdog = process._end.peek()[2][1]
            assert alive(watchdog.pid)
        assert gone(watchdog.pid)


class TestLife:
    def test_one_process_serves_all_batches(self) -> None:
        with echo("__import__('os').getpid()") as command:
            pids = {label for _ in range(5) for label in command(BITS).tolist()}
        assert len(pids) == 1
        assert gone(pids.pop())

    def test_it_ends_with_the_target(self) -> None:
        command = echo("__import__('os').getpid()")
        pid = int(command(BITS)[0])
        assert alive(pid)
        del command
        gc.collect()
        assert gone(pid)

    def test_closing_gives_it_time_to_end_well(self, tmp_path: Path) -> None:
        program = LOOP + f"print(1, flush=True)\nopen({str(tmp_path / 'end')!r}, 'w').write('well')"
        with python(program) as command:
            command(BITS)
        assert (tmp_path / "end").read_text() == "well"
        command.close()
        assert command(BITS).tolist() == [1] * 16
        command.close()

    def test_closing_kills_what_does_not_end(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("fidelitree.targets.models.process._GRACE", 0.2)
        command = python(LOOP + "print(__import__('os').getpid(), flush=True)\nimport time; time.sleep(600)")
        pid = int(command(BITS)[0])
        command.close()
        assert gone(pid)

    def test_batches_larger_than_any_pipe(self) -> None:
        many = np.tile(BITS, (6_250, 1))
        with echo("x['x3']") as command:
            assert command(many).tolist() == many[:, 3].tolist()

    def test_one_that_reads_all_before_it_answers(self) -> None:
        many = np.tile(BITS, (2_000, 1))
        program = (
            f"import json, sys\nlines = [sys.stdin.readline() for _ in range({len(many)})]\n"
            "print('\\n'.join(str(json.loads(line)['x0']) for line in lines), flush=True)\nsys.stdin.read()"
        )
        with python(program) as command:
            assert command(many).tolist() == many[:, 0].tolist()

    def test_threads_take_turns(self) -> None:
        with echo("x['x1']") as command:
            found: list[list[int]] = []
            threads = [threading.Thread(target=lambda: found.append(command(BITS).tolist())) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert found == [BITS[:, 1].tolist()] * 8

    def test_a_pickled_copy_starts_its_own(self) -> None:
        with echo("__import__('os').getpid()") as command:
            copy = pickle.loads(pickle.dumps(command))
            assert copy(BITS)[0] != command(BITS)[0]
            copy.close()

    def test_no_shell_runs(self, tmp_path: Path) -> None:
        line = f"cmd:'{sys.executable}' -c 'import sys; sys.exit(sys.argv[1])' '$HOME; touch {tmp_path}/made'"
        with pytest.raises(ft.TargetError, match=r"Its last words on standard error: \$HOME; touch "):
            load_model(line)(BITS)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"command": ""}, "command must be a program and its arguments; got ''"),
        ({"command": ["python", 3]}, r"command must be a program and its arguments; got \['python', 3\]"),
        ({"command": "python 'x"}, "command must be a line that a shell could split; got .*: No closing quotation"),
        ({"command": "python", "timeout": 0}, "timeout must be above 0 seconds; got 0"),
        ({"command": "python", "timeout": "soon"}, "timeout must be a number; got 'soon'"),
    ],
)
def test_what_it_refuses(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ft.ParameterError, match=message):
        Command(**arguments)
