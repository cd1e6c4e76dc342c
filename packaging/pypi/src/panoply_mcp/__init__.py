"""Carries the program `panoply`; `python -m panoply_mcp` and `panoply-mcp` start it."""
