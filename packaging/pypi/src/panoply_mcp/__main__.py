"""Starts the program that was installed beside this package."""

import os
import subprocess
import sys
import sysconfig


def program() -> str:
    """Returns the path of the program: in the environment's scripts, or beside a `--user` or `--target` install."""
    name = "panoply" + (sysconfig.get_config_var("EXE") or "")
    here = os.path.dirname(os.path.abspath(__file__))
    user = "nt_user" if os.name == "nt" else "posix_user"
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", scheme=user),
        os.path.join(os.path.dirname(here), "bin"),
    ]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise SystemExit(f"panoply: {name} is not in {', '.join(folders)}; install panoply-mcp again")


def main() -> None:
    path = program()
    if os.name == "nt":
        # Windows has no exec: the parent waits and passes the exit status on.
        raise SystemExit(subprocess.call([path, *sys.argv[1:]]))
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
