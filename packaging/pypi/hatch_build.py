"""Build hook of the wheel: adds the program as a script and sets the platform tag."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProgramHook(BuildHookInterface):
    def initialize(self, version, build_data):
        program = os.environ["WHEEL_PROGRAM"]
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['WHEEL_PLATFORM']}"
        build_data["shared_scripts"][program] = os.path.basename(program)
