"""The tool of all agents: runs a command in a shell."""

import subprocess


def run(command: str) -> str:
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        return f"Error: exit code {done.returncode}: {done.stderr.strip()}"
    return done.stdout
