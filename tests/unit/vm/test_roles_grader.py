"""What the role grader does beside Ansible's own modules."""

import subprocess
import sys
import venv

from provision.message import say
from provision.waiting import wait_until
from tests.unit.vm.roles import ANSIBLE

SCRIPT = ANSIBLE / "roles" / "grader" / "files" / "end-installing.sh"
WAITING = "import time; time.sleep(60)"


def test_what_still_installs_is_ended_and_programs_of_the_lab_are_not(tmp_path):
    folder = tmp_path / "venv"
    venv.create(folder)
    program = tmp_path / "program.py"
    program.write_text(WAITING)
    python = folder / "bin" / "python"
    commands = ([python, "-c", WAITING], [python, program], [sys.executable, "-c", WAITING])
    running = [subprocess.Popen(command) for command in commands]

    def missing():
        """Ended, and not one that has only been forked yet."""
        done = subprocess.run(
            ["sh", SCRIPT, folder], capture_output=True, text=True, timeout=30, check=True
        )
        return None if done.stdout == "ended\n" else say("nothing was ended")

    try:
        wait_until(missing, within=20)
        assert running[0].wait(10) == -9
        assert [process.poll() for process in running[1:]] == [None, None]
    finally:
        for process in running:
            process.kill()
            process.wait()
